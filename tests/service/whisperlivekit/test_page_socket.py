"""WhisperLiveKit's page, over a real socket."""

import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus


@pytest.fixture
async def socket(live):
    async with connect(f"{live.ws}/asr", proxy=None) as socket:
        config = json.loads(await socket.recv())
        assert config == {"type": "config", "useAudioWorklet": True, "mode": "full"}
        yield socket


async def received(socket):
    return json.loads(await socket.recv())


async def closed(socket):
    with pytest.raises(ConnectionClosed) as error:
        await socket.recv()
    return error.value.rcvd


async def test_lines_and_the_text_under_way(socket, tone, live):
    await socket.send(tone(1.0, 0.2))
    told = await received(socket)
    assert (told["lines"], told["buffer_transcription"]) == ([], "w20 w20")
    assert told["status"] == "active_transcription"
    live.engine.streams[0]._final("endpoint")
    line = {"speaker": 1, "text": "w20 w20", "start": "0:00:00.00", "end": "0:00:01.00"}
    assert (await received(socket))["lines"] == [line]
    await socket.send(tone(0.5, 0.3))
    told = await received(socket)
    assert (told["lines"], told["buffer_transcription"]) == ([line], "w30")
    await socket.send(b"")
    assert [each["text"] for each in (await received(socket))["lines"]] == ["w20 w20", "w30"]
    assert await received(socket) == {"type": "ready_to_stop"}
    assert (await closed(socket)).code == 1000


async def test_a_pause_without_words_is_no_line(socket, live):
    live.engine.streams[0]._final("endpoint")
    await socket.send(b"")
    assert await received(socket) == {"type": "ready_to_stop"}


async def test_texts_are_passed_over(socket, tone):
    await socket.send("hello")
    await socket.send(tone(0.5, 0.2))
    assert (await received(socket))["buffer_transcription"] == "w20"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("mode=diff", "only the mode full"),
        ("target_language=de", "nothing is translated"),
        ("language=fr", "language=fr: not served"),
    ],
)
async def test_what_is_not_done_is_refused(live, query, told):
    with pytest.raises(InvalidStatus) as refused:
        async with connect(f"{live.ws}/asr?{query}", proxy=None):
            pass
    assert refused.value.response.status_code == 400
    assert told in json.loads(refused.value.response.body)["detail"]


@pytest.mark.parametrize("query", ["language=auto", "language=en", "mode=full", "language="])
async def test_what_the_page_asks_for_is_served(live, query):
    async with connect(f"{live.ws}/asr?{query}", proxy=None) as socket:
        assert json.loads(await socket.recv())["type"] == "config"


async def test_a_stream_that_fails_says_so(socket, live):
    live.engine.opened[-1].fail(RuntimeError("broken"))
    assert await received(socket) == {"type": "error", "error": "internal error"}
    assert (await closed(socket)).code == 1011


async def test_a_draining_server_gives_the_last_line_first(serve, tone):
    async with serve() as server, connect(f"{server.ws}/asr", proxy=None) as socket:
        await socket.recv()
        await socket.send(tone(0.5, 0.2))
        await received(socket)
        server.server.should_exit = True
        assert (await received(socket))["lines"][0]["text"] == "w20"
        assert await received(socket) == {"type": "ready_to_stop"}
        assert (await closed(socket)).code == 1012


async def test_a_silent_page_gets_its_last_line_and_the_reason(serve, tone):
    async with serve(idle_timeout_s=0.2) as server, connect(f"{server.ws}/asr", proxy=None) as page:
        await page.recv()
        await page.send(tone(0.5, 0.2))
        while (told := await received(page)).get("type") != "ready_to_stop":
            last = told
        assert last["lines"][0]["text"] == "w20"
        assert "no audio for 0.2 s" in (await closed(page)).reason
