"""Wyoming's own client, unchanged, and what is no client, against a port of its own."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager, suppress

import pytest

from earshot.service.gateway.app import create_app
from earshot.service.gateway.server import Server, bind
from earshot.service.wyoming import event_socket
from earshot.service.wyoming.event_socket import MAX_LINE_BYTES
from earshot.service.wyoming.wyoming_server import WyomingServer
from earshot.streaming.events import NotConfigured

wyoming = pytest.importorskip("wyoming", reason="wyoming is not installed")

from wyoming.asr import Transcribe, Transcript  # noqa: E402
from wyoming.audio import AudioChunk, AudioStart, AudioStop  # noqa: E402
from wyoming.client import AsyncTcpClient  # noqa: E402
from wyoming.error import Error  # noqa: E402
from wyoming.info import Describe, Info  # noqa: E402
from wyoming.ping import Ping, Pong  # noqa: E402

FORMAT = {"rate": 16000, "width": 2, "channels": 1}


@pytest.fixture
async def port(live):
    bound = bind("127.0.0.1", 0)
    server = WyomingServer(live.services, bound)
    await server.start()
    yield bound.getsockname()[1]
    server.stop()


@pytest.fixture
async def client(port):
    async with AsyncTcpClient("127.0.0.1", port) as client:
        yield client


async def say(client, audio):
    await client.write_event(AudioStart(**FORMAT).event())
    for at in range(0, len(audio), 4000):
        await client.write_event(AudioChunk(audio=audio[at : at + 4000], **FORMAT).event())
    await client.write_event(AudioStop().event())


async def test_a_client_is_told_of_the_model(client):
    await client.write_event(Describe().event())
    info = Info.from_event(await client.read_event())
    [program] = info.asr
    assert program.installed
    assert [model.name for model in program.models] == ["scripted"]
    assert program.models[0].languages == ["en"]
    await client.write_event(Ping(text="hello").event())
    assert Pong.from_event(await client.read_event()).text == "hello"


async def test_each_utterance_has_one_text(client, tone):
    for level in (0.2, 0.3):
        await client.write_event(Transcribe(language="en").event())
        await say(client, tone(1.0, level))
        told = Transcript.from_event(await client.read_event())
        assert told.text == f"w{level * 100:.0f} w{level * 100:.0f}"


async def test_pauses_within_an_utterance_do_not_part_its_text(client, tone, live):
    await client.write_event(AudioStart(**FORMAT).event())
    await client.write_event(AudioChunk(audio=tone(0.5, 0.2), **FORMAT).event())
    while not (live.engine.streams and live.engine.streams[0].words):
        await client.write_event(Ping().event())
        await client.read_event()
    live.engine.streams[0]._final("endpoint")
    await client.write_event(AudioChunk(audio=tone(0.5, 0.3), **FORMAT).event())
    await client.write_event(AudioStop().event())
    assert Transcript.from_event(await client.read_event()).text == "w20 w30"


async def test_names_and_terms_are_boosted_also_of_a_later_utterance(client, tone, live):
    asked = Transcribe(transcript_names=["kearny"], transcript_terms=["iced tea"])
    await client.write_event(asked.event())
    await say(client, tone(0.5, 0.2))
    await client.read_event()
    [stream] = live.engine.opened
    assert [boost.phrase for boost in stream.boosts] == ["kearny", "iced tea"]
    await client.write_event(Transcribe(transcript_names=["smith"]).event())
    await say(client, tone(0.5, 0.2))
    await client.read_event()
    assert [boost.phrase for boost in stream.boosts] == ["smith"]


@pytest.mark.parametrize(
    ("asked", "start", "told"),
    [
        ({"language": "fr"}, FORMAT, "language=fr: not served"),
        ({"name": "other-model"}, FORMAT, "model=other-model"),
        ({"transcript_names": "x"}, FORMAT, "transcript_names: must be a list"),
        ({}, {**FORMAT, "width": 4}, "width=4"),
        ({}, {**FORMAT, "rate": 3}, "sample_rate=3"),
    ],
)
async def test_what_cannot_be_served_is_told_and_ends_the_connection(client, asked, start, told):
    await client.write_event(wyoming.event.Event("transcribe", asked))
    await client.write_event(wyoming.event.Event("audio-start", start))
    assert told in Error.from_event(await client.read_event()).text
    assert await client.read_event() is None


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (b"garbage\n", "an object of JSON"),
        (b'{"type": "ping", "data": {"text": "\\ud800"}}\n', "an object of JSON"),
        (b'{"type": "ping", "data": {"text": NaN}}\n', "an object of JSON"),
        (b"[1]\n", "an object of JSON"),
        (b'{"type": "x", "data": 3}\n', "data: must be an object"),
        (b'{"type": "x", "data_length": -1}\n', "data_length: must be"),
        (b'{"type": "audio-chunk", "payload_length": 99999999999}\n', "payload_length: must be"),
        (b'{"type": "x", "data_length": 3}\n[1]', "an object of JSON"),
        (b"x" * (MAX_LINE_BYTES + 10), "a line of more than"),
    ],
)
async def test_what_is_no_event_is_told_and_ends_the_connection(port, live, sent, told):
    async with raw(port) as (reader, writer):
        writer.write(sent)
        answer = json.loads(await reader.readline())
        assert answer["type"] == "error"
        assert told in answer["data"]["text"]
        assert await reader.read() == b""
    await live.idle()


async def test_a_client_that_neither_reads_nor_closes_is_cut_off(port, live, monkeypatch):
    monkeypatch.setattr(event_socket, "CLOSE_TIMEOUT_S", 0.2)
    peer = socket.create_connection(("127.0.0.1", port))
    peer.sendall(b"garbage\n" + bytes(100_000))
    await live.idle()
    loop = asyncio.get_running_loop()
    peer.setblocking(False)
    with suppress(ConnectionResetError):
        while await loop.sock_recv(peer, 65536):
            pass
    peer.close()


async def test_what_a_chunk_says_of_itself_is_not_read(client, tone):
    await client.write_event(AudioStart(**FORMAT).event())
    odd = wyoming.event.Event("audio-chunk", {"a": [[]] * 9000}, tone(0.5, 0.2))
    await client.write_event(odd)
    await client.write_event(AudioStop().event())
    assert Transcript.from_event(await client.read_event()).text == "w20"


async def test_a_client_that_leaves_in_mid_event_frees_its_stream(port, live, client, tone):
    async with raw(port) as (_, writer):
        start = {"type": "audio-start", "data": FORMAT}
        writer.write(
            json.dumps(start).encode() + b'\n{"type": "audio-chunk", "payload_length": 9}\n'
        )
        while not live.engine.streams:
            await client.write_event(Ping().event())
            await client.read_event()
    while live.engine.streams:
        await client.write_event(Ping().event())
        await client.read_event()


async def test_names_that_cannot_be_had_later_are_told(client, tone, live):
    await say(client, tone(0.5, 0.2))
    await client.read_event()
    live.engine.opened[-1].sink(NotConfigured("the lists of the request cannot be compiled"))
    assert "cannot be compiled" in Error.from_event(await client.read_event()).text


async def test_another_language_wants_another_connection(client, tone, live):
    await say(client, tone(0.5, 0.2))
    await client.read_event()
    await client.write_event(Transcribe(language="en").event())
    await client.write_event(AudioStart(**FORMAT).event())
    assert "language: fixed for a connection" in Error.from_event(await client.read_event()).text


async def test_the_port_is_the_servers_own_and_drains_with_it(serve, live, tone):
    bound = bind("127.0.0.1", 0)
    server = Server(create_app(live.services), live.services, [WyomingServer(live.services, bound)])
    task = asyncio.create_task(server.serve([bind("127.0.0.1", 0)]))
    await server.listening.wait()
    async with AsyncTcpClient("127.0.0.1", bound.getsockname()[1]) as client:
        await client.write_event(AudioStart(**FORMAT).event())
        await client.write_event(AudioChunk(audio=tone(0.5, 0.2), **FORMAT).event())
        await client.write_event(Ping().event())
        await client.read_event()
        server.should_exit = True
        assert Transcript.from_event(await client.read_event()).text == "w20"
        assert await client.read_event() is None
    await task


async def test_a_silent_client_is_told_so_and_its_connection_closed(serve):
    async with serve(idle_timeout_s=0.2) as server:
        bound = bind("127.0.0.1", 0)
        other = WyomingServer(server.services, bound)
        await other.start()
        async with AsyncTcpClient("127.0.0.1", bound.getsockname()[1]) as client:
            assert await client.read_event() is None
        other.stop()


async def test_a_full_server_says_so(client, live, tone):
    live.engine.max_streams = 0
    await client.write_event(AudioStart(**FORMAT).event())
    assert Error.from_event(await client.read_event()).code == "TOO_MANY_REQUESTS"


async def test_audio_without_a_start_is_passed_over(client, tone):
    await client.write_event(AudioChunk(audio=tone(0.5, 0.2), **FORMAT).event())
    await client.write_event(AudioStop().event())
    await say(client, tone(0.5, 0.3))
    assert Transcript.from_event(await client.read_event()).text == "w30"


async def test_a_draining_server_gives_the_text_so_far(serve, tone):
    async with serve() as server:
        bound = bind("127.0.0.1", 0)
        other = WyomingServer(server.services, bound)
        await other.start()
        async with AsyncTcpClient("127.0.0.1", bound.getsockname()[1]) as client:
            await client.write_event(AudioStart(**FORMAT).event())
            await client.write_event(AudioChunk(audio=tone(0.5, 0.2), **FORMAT).event())
            await client.write_event(Ping().event())
            await client.read_event()
            server.server.should_exit = True
            assert Transcript.from_event(await client.read_event()).text == "w20"
            assert await client.read_event() is None
        other.stop()


@asynccontextmanager
async def raw(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
