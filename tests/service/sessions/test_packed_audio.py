"""Containers on sockets, from the first byte to the last word."""

import asyncio
import json
import threading

import pytest
from recorded_streams import muxed, recorded, steps
from websockets.asyncio.client import connect

CLOSE = json.dumps({"type": "CloseStream"})


async def threads_ended():
    for thread in threading.enumerate():
        if thread.name == "unpacker":
            await asyncio.to_thread(thread.join, 30)
            assert not thread.is_alive()


async def told(live, read, data, query="", piece=1000):
    """All messages about a stream that is sent piece by piece."""
    async with live.listen(query) as socket:
        for at in range(0, len(data), piece):
            await socket.send(data[at : at + piece])
        await socket.send(CLOSE)
        return await read(socket)


def loudness(text):
    return [int(word[1:]) for word in text.split()]


async def test_a_socket_hears_what_a_file_says(live, read, text_of, recorded_kind):
    data = recorded(recorded_kind)
    messages = await told(live, read, data)
    assert messages[-1]["type"] == "Metadata"
    async with live.client() as client:
        answer = (await client.post("/v1/listen?format=text", content=data)).text
    assert loudness(text_of(messages)) == pytest.approx(loudness(answer), abs=3)
    await threads_ended()


@pytest.mark.parametrize(
    ("kind", "encoding"),
    [("flac", "flac"), ("ogg-opus", "ogg-opus"), ("amr", "amr-nb&sample_rate=8000")],
)
async def test_an_encoding_may_name_the_container(live, read, text_of, kind, encoding):
    messages = await told(live, read, recorded(kind), f"encoding={encoding}")
    assert len(loudness(text_of(messages))) == 6


async def test_partials_come_while_the_recorder_runs(live):
    data = recorded("webm")
    async with live.listen("interim_results=true") as socket:
        await socket.send(data[: len(data) // 2])
        partial = json.loads(await socket.recv())
        assert not partial["is_final"]


async def test_what_is_asked_for_comes_behind_the_audio_before_it(live, text_of):
    async with live.listen("") as socket:
        await socket.send(recorded("ogg-opus"))
        await socket.send('{"type": "Finalize"}')
        final = json.loads(await socket.recv())
        assert final["from_finalize"]
        assert len(loudness(text_of([final]))) >= 5


async def test_channels_are_heard_apart(live, read):
    audio = muxed("libopus", "webm", audio=[steps(48_000), 0.5 * steps(48_000)])
    messages = await told(live, read, audio, "multichannel=true&channels=2")
    results = [each for each in messages if each["type"] == "Results"]
    assert {tuple(each["channel_index"]) for each in results} == {(0, 2), (1, 2)}
    assert messages[-1]["channels"] == 2


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"OggS" + bytes(200), "Ogg stream"),
        (b"\x1a\x45\xdf\xa3" + bytes(200), "WebM/Matroska stream"),
        (b"caff\0\1" + bytes(200), "CAF cannot be streamed"),
    ],
)
async def test_what_cannot_be_decoded_ends_its_own_session(live, read, data, named):
    async with live.listen("") as other:
        async with live.listen("") as socket:
            await socket.send(data)
            await socket.send(CLOSE)
            [error] = await read(socket)
            assert named in error["description"]
            assert socket.close_code == 1008
        await other.send(recorded("ogg-opus"))
        await other.send(CLOSE)
        assert (await read(other))[-1]["type"] == "Metadata"
    await threads_ended()


async def test_a_client_that_goes_away_leaves_no_thread(live):
    async with live.listen("") as socket:
        await socket.send(recorded("webm")[:4000])
    await live.idle()
    await threads_ended()
    assert len(live.services.unpackers) == 0


async def test_a_full_backlog_holds_the_decoder_up_and_loses_nothing(live, read, text_of):
    live.engine.paused, live.engine.max_backlog_s = True, 2.0
    async with live.listen("") as socket:
        await socket.send(recorded("ogg-opus"))
        await socket.send(CLOSE)
        await live.engine.full.wait()
        assert all(len(each.undecoded) <= 2 * 16_000 for each in live.engine.streams)
        live.engine.resume()
        assert len(loudness(text_of(await read(socket)))) == 6


async def test_a_server_that_stops_tells_all_that_was_sent(serve, read, text_of):
    async with serve() as server, server.listen("interim_results=true") as socket:
        await socket.send(recorded("mp3"))
        await socket.recv()
        server.server.should_exit = True
        messages = await read(socket)
        assert len(loudness(text_of(messages))) == 6
        assert socket.close_code == 1012
    await threads_ended()


async def test_more_containers_than_are_allowed_are_refused(serve, read, tone):
    async with serve(max_containers=1) as server, server.listen("interim_results=true") as first:
        await first.send(recorded("webm"))
        await first.recv()
        async with server.listen("") as second:
            await second.send(recorded("webm"))
            [error] = await read(second)
            assert error["variant"] == "TOO_MANY_CONTAINERS"
            assert second.close_code == 1013
        async with server.listen() as samples:
            await samples.send(tone(0.5))
            await samples.send(CLOSE)
            assert (await read(samples))[-1]["type"] == "Metadata"


@pytest.mark.parametrize("kind", ["webm", "ogg-opus", "mp4"])
async def test_whisper_live_kits_page_may_send_what_its_recorder_makes(live, read, kind):
    async with connect(f"{live.ws}/asr", proxy=None) as socket:
        await socket.recv()
        await socket.send(recorded(kind))
        await socket.send(b"")
        messages = await read(socket)
        assert messages[-1] == {"type": "ready_to_stop"}
        assert len(loudness(messages[-2]["lines"][-1]["text"])) == 6
