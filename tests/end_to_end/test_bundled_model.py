"""The server as `make serve` starts it: bundled model, default settings, the clips of the page."""

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from server_process import Server, served
from socket_client import CLOSE_STREAM, Transcript, listen, receive
from websockets.asyncio.client import ClientConnection, connect

from earshot.models.native.precision_choice import INSTRUCTION
from earshot.models.native.weights import processors

PACKET_MS = 100
PACKET_BYTES = 32 * PACKET_MS


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as server:
        yield server


@pytest.fixture(scope="module")
def samples_dir(repository_dir: Path) -> Path:
    return repository_dir / "web" / "samples"


async def speak(socket: ClientConnection, audio: bytes) -> None:
    """Send audio at the pace at which it plays; that is what this test is about."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number in itertools.count(1):
        packet = audio[(number - 1) * PACKET_BYTES : number * PACKET_BYTES]
        if not packet:
            return
        await asyncio.sleep(began + number * PACKET_MS / 1000 - loop.time())
        await socket.send(packet)


async def test_wake_phrase_in_real_time_gives_partials_before_it_is_ended_and_its_text(
    server: Server, samples_dir: Path, linear16: Callable[[Path], bytes]
) -> None:
    heard = Transcript()
    async with connect(server.listen_url(interim_results="true")) as socket:
        speaking = asyncio.create_task(speak(socket, linear16(samples_dir / "smart-mirror.opus")))
        while not any(heard.partials):  # on a busy machine they come when all was said
            heard.messages.append(json.loads(await socket.recv()))
        await speaking
        await socket.send(CLOSE_STREAM)
        await receive(socket, heard)
    assert heard.text == "smart mirror"
    assert heard.close_code == 1000


async def test_a_weight_beyond_what_a_word_can_earn_is_told_with_what_counts(
    server: Server, samples_dir: Path
) -> None:
    audio = (samples_dir / "seven.opus").read_bytes()
    query = {"keyterm": ["heather:20", "the", "weather:1"]}
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        limits = (await client.get(server.http("/v1/models"))).json()["boost_limits"]
        answer, of_tokens = [
            await client.post(server.http("/v1/listen"), params=asked, content=audio)
            for asked in (query, {**query, "lm": "off"})
        ]
    assert limits["weight"] == 9.0
    for said, limit in ((answer, "6.2, the most that each of its words"), (of_tokens, "3, the")):
        (warning,) = said.json()["metadata"]["warnings"]
        assert (warning["type"], warning["phrase"]) == ("changed_value", "heather")
        assert warning["message"].startswith(f"heather: the weight 20 counts as {limit}")


async def test_models_tells_what_the_network_multiplies(server: Server) -> None:
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        [model] = (await client.get(server.http("/v1/models"))).json()["stt"]
    assert model["precision"] == ("int8" if INSTRUCTION in processors() else "float32")


async def test_samples_give_the_same_text_streamed_and_as_files(
    server: Server, samples_dir: Path, linear16: Callable[[Path], bytes]
) -> None:
    names = [clip["file"] for clip in json.loads((samples_dir / "samples.json").read_text())]
    url = server.listen_url(chunk="whole")  # as files are heard
    streamed = await asyncio.gather(*(listen(url, linear16(samples_dir / n)) for n in names))
    async with httpx.AsyncClient(timeout=60) as client:
        posted = [
            await client.post(
                server.http("/v1/listen"),
                params={"format": "text"},
                content=(samples_dir / name).read_bytes(),
            )
            for name in names
        ]
    assert [answer.text.split() for answer in posted] == [one.text.split() for one in streamed]
    assert any(one.text for one in streamed)
