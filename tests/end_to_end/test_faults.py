"""Each fault gets its own answer, and a stream beside it never notices."""

import asyncio
import contextlib
import random
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import httpx
import numpy as np
import pytest
from server_process import Server, served
from socket_client import CLOSE_STREAM, Transcript, listen, receive, send
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

Fault: TypeAlias = Callable[[Server, bytes], Awaitable[None]]

TEXT = (
    "IT WAS THE FIRST GREAT SORROW OF HIS LIFE IT WAS NOT SO MUCH THE LOSS OF THE COTTON "
    "ITSELF BUT THE FANTASY THE HOPES THE DREAMS BUILT AROUND IT"
)
HEADER_TIMEOUT_S = 5


@pytest.fixture(scope="module")
def server(golden_model_dir: Path) -> Iterator[Server]:
    flags = ("--model", str(golden_model_dir), "--header-timeout-s", str(HEADER_TIMEOUT_S))
    with served(*flags) as server:
        yield server


@pytest.fixture(scope="module")
def audio(golden_dir: Path, linear16: Callable[[Path], bytes]) -> bytes:
    return linear16(golden_dir / "wavs" / "librispeech-1995-1837-0001.wav")


@asynccontextmanager
async def bystander(server: Server, audio: bytes) -> AsyncIterator[Transcript]:
    """Speak the first half before the block and the second half after it."""
    heard, half = Transcript(), len(audio) // 4 * 2
    url = server.listen_url(endpointing="false", interim_results="true")
    async with connect(url) as socket, asyncio.TaskGroup() as group:
        group.create_task(receive(socket, heard))
        await send(socket, audio[:half])
        yield heard
        await send(socket, audio[half:])
        await socket.send(CLOSE_STREAM)


async def post(server: Server, body: bytes, **parameters: str) -> httpx.Response:
    async with httpx.AsyncClient(timeout=60) as client:
        return await client.post(server.http("/v1/listen"), params=parameters, content=body)


async def raw_answer(server: Server, request: bytes) -> bytes:
    """Send bytes over TCP and read until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(request)
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


async def killed_mid_word(server: Server, audio: bytes) -> None:
    async with connect(server.listen_url(interim_results="true")) as socket:
        await send(socket, audio[: len(audio) // 2])
        await socket.recv()
        socket.transport.abort()


async def garbage_instead_of_http(server: Server, audio: bytes) -> None:
    answer = await raw_answer(server, random.Random(1).randbytes(512) + b"\r\n\r\n")
    assert answer == b"" or b" 400 " in answer.splitlines()[0]


async def garbage_message(server: Server, audio: bytes) -> None:
    async with connect(server.listen_url()) as socket:
        heard = Transcript()
        await socket.send('{"type": "Garbage", ')
        await socket.send(CLOSE_STREAM)
        await receive(socket, heard)
    assert [error["variant"] for error in heard.of_type("Error")] == ["SchemaError"]
    assert heard.close_code == 1000


async def garbage_audio(server: Server, audio: bytes) -> None:
    """Every pair of bytes is a sample: noise gives no error, and no words are wanted of it."""
    heard = await listen(server.listen_url(), random.Random(2).randbytes(100_001))
    assert heard.close_code == 1000
    assert heard.of_type("Metadata")


async def not_a_number(server: Server, audio: bytes) -> None:
    samples = np.zeros(16000, "<f4")
    samples[8000] = np.nan
    url = server.listen_url().replace("linear16", "linear32")
    heard = await listen(url, samples.tobytes())
    assert heard.close_code == 1008
    assert [error["variant"] for error in heard.of_type("Error")] == ["UNDECODABLE_AUDIO"]


async def half_a_wav_header(server: Server, audio: bytes) -> None:
    header = b"RIFF" + struct.pack("<I", 36 + len(audio)) + b"WAVEfmt "
    heard = await listen(f"ws://127.0.0.1:{server.port}/v1/listen", header)
    assert heard.of_type("Error")
    assert heard.close_code == 1008
    assert (await post(server, header)).status_code == 400


async def half_a_request_header(server: Server, audio: bytes) -> None:
    async with asyncio.timeout(4 * HEADER_TIMEOUT_S):
        answer = await raw_answer(server, b"GET /v1/listen HTTP/1.1\r\nHost: local")
    assert answer == b"" or b" 408 " in answer.splitlines()[0]


async def ten_megabytes_in_one_frame(server: Server, audio: bytes) -> None:
    heard = Transcript()
    async with connect(server.listen_url()) as socket:
        with contextlib.suppress(ConnectionClosed):  # it may be refused before all of it is sent
            await socket.send(bytes(10 << 20))
        await receive(socket, heard)
    assert heard.close_code == 1009


async def corrupt_file(server: Server, audio: bytes) -> None:
    answer = await post(server, b"OggS\x00\x02" + random.Random(3).randbytes(50_000))
    assert answer.status_code == 400
    assert answer.json()["err_code"] == "UNDECODABLE_AUDIO"


async def zip_as_a_file(server: Server, audio: bytes) -> None:
    answer = await post(server, b"PK\x03\x04" + bytes(4000))
    assert answer.status_code == 400
    assert answer.json()["err_code"] == "UNDECODABLE_AUDIO"


async def bad_parameter(server: Server, audio: bytes) -> None:
    answer = await post(server, audio, mode="mind_reading")
    assert answer.status_code == 400
    assert "mode" in answer.json()["err_msg"]


FAULTS: tuple[Fault, ...] = (
    killed_mid_word,
    garbage_instead_of_http,
    garbage_message,
    garbage_audio,
    not_a_number,
    half_a_wav_header,
    half_a_request_header,
    ten_megabytes_in_one_frame,
    corrupt_file,
    zip_as_a_file,
    bad_parameter,
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.__name__))
async def test_fault_is_answered_and_unnoticed_beside(
    server: Server, audio: bytes, fault: Fault
) -> None:
    async with bystander(server, audio) as heard:
        await fault(server, audio)
    assert heard.text == TEXT.lower()
    assert heard.close_code == 1000


async def test_all_faults_at_once_leave_no_stream_behind(server: Server, audio: bytes) -> None:
    async with bystander(server, audio) as heard, asyncio.TaskGroup() as group:
        for fault in FAULTS * 3:
            group.create_task(fault(server, audio))
    assert heard.text == TEXT.lower()
    async with httpx.AsyncClient(timeout=60) as client, asyncio.timeout(60):
        assert (await client.get(server.http("/readyz"))).status_code == 200
        # The streams of killed clients end on the engine's next step.
        while "earshot_live_streams 0.0" not in (await client.get(server.http("/metrics"))).text:
            pass
