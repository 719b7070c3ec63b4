"""WeNet's clients, over a real socket: start, audio, end."""

import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

START = {"signal": "start", "nbest": 1, "continuous_decoding": True}
READY = {"status": "ok", "type": "server_ready"}
SPEECH_END = {"status": "ok", "type": "speech_end"}


class Client:
    """Says what WeNet's own client does; of a result the list is read, too."""

    def __init__(self, socket):
        self.socket = socket

    async def send(self, message):
        await self.socket.send(message if isinstance(message, bytes) else json.dumps(message))

    async def receive(self):
        message = json.loads(await self.socket.recv())
        if "nbest" in message:
            message["nbest"] = json.loads(message["nbest"])
        return message

    async def closed(self):
        with pytest.raises(ConnectionClosed) as closed:
            await self.socket.recv()
        return closed.value.rcvd


@pytest.fixture
async def client(live):
    async with connect(f"{live.ws}/", proxy=None) as socket:
        yield Client(socket)


async def test_partials_finals_and_an_end(client, tone):
    await client.send(START)
    assert await client.receive() == READY
    await client.send(tone(1.0, 0.2))
    assert await client.receive() == {
        "status": "ok",
        "type": "partial_result",
        "nbest": [{"sentence": "w20 w20"}],
    }
    await client.send({"signal": "end"})
    assert await client.receive() == {
        "status": "ok",
        "type": "final_result",
        "nbest": [
            {
                "sentence": "w20 w20",
                "word_pieces": [
                    {"word": "w20", "start": 0, "end": 500},
                    {"word": "w20", "start": 500, "end": 1000},
                ],
            }
        ],
    }
    assert await client.receive() == SPEECH_END
    assert (await client.closed()).code == 1000


async def test_several_readings(client, tone):
    await client.send({**START, "nbest": 3})
    await client.receive()
    await client.send(tone(0.5, 0.2))
    await client.receive()
    await client.send({"signal": "end"})
    assert [each["sentence"] for each in (await client.receive())["nbest"]] == ["w20"] * 3


async def test_the_first_pause_ends_a_session_that_does_not_go_on(client, tone, live):
    await client.send({"signal": "start"})
    await client.receive()
    await client.send(tone(0.5, 0.2))
    await client.receive()
    [stream] = live.engine.streams
    stream._final("endpoint")
    assert (await client.receive())["nbest"][0]["sentence"] == "w20"
    assert await client.receive() == SPEECH_END
    assert (await client.closed()).code == 1000
    assert not live.engine.streams


async def test_a_session_that_goes_on_does_so_after_a_pause(client, tone, live):
    await client.send(START)
    await client.receive()
    await client.send(tone(0.5, 0.2))
    await client.receive()
    [stream] = live.engine.streams
    stream._final("endpoint")
    assert (await client.receive())["type"] == "final_result"
    await client.send(tone(0.5, 0.3))
    assert (await client.receive())["nbest"] == [{"sentence": "w30"}]
    await client.send({"signal": "end"})
    assert (await client.receive())["nbest"][0]["sentence"] == "w30"


async def test_a_pause_without_words_is_no_result(client, live):
    await client.send({"signal": "start"})
    await client.receive()
    [stream] = live.engine.streams
    stream._final("endpoint")
    await client.send({"signal": "end"})
    assert (await client.receive())["nbest"] == [{"sentence": "", "word_pieces": []}]
    assert await client.receive() == SPEECH_END


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"signal": "begin"}, "the signal start"),
        ({"signal": "end"}, "the signal start"),
        ({"signal": "start", "nbest": "one"}, "nbest: must be a whole number"),
        ({"signal": "start", "nbest": True}, "nbest: must be a whole number"),
        ({"signal": "start", "continuous_decoding": 1}, "continuous_decoding: must be true"),
    ],
)
async def test_what_is_no_start_is_told_and_closes_the_socket(client, message, told):
    await client.send(message)
    answer = await client.receive()
    assert answer["status"] == "failed"
    assert told in answer["message"]
    assert (await client.closed()).code == 1008


@pytest.mark.parametrize("message", [START, "garbage", "[]", '{"signal": 3}'])
async def test_no_other_signal_may_follow_a_start_but_the_end(client, message):
    await client.send(START)
    await client.receive()
    await client.socket.send(message if isinstance(message, str) else json.dumps(message))
    assert (await client.receive())["status"] == "failed"
    assert (await client.closed()).code == 1008


async def test_a_stream_that_fails_says_so(client, tone, live):
    await client.send(START)
    await client.receive()
    live.engine.opened[-1].fail(RuntimeError("broken"))
    assert await client.receive() == {"status": "failed", "message": "internal error"}
    assert (await client.closed()).code == 1011


async def test_a_draining_server_gives_the_last_result_first(serve, tone):
    async with serve() as server, connect(f"{server.ws}/", proxy=None) as socket:
        client = Client(socket)
        await client.send(START)
        await client.receive()
        await client.send(tone(0.5, 0.2))
        await client.receive()
        server.server.should_exit = True
        assert (await client.receive())["type"] == "final_result"
        assert await client.receive() == SPEECH_END
        assert (await client.closed()).code == 1012
