"""vosk-server's clients: one answer to each message of audio, over a real socket."""

import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

CONFIG = {"sample_rate": 16000, "words": False}


class Client:
    """Asks as vosk-server's own example does: a message, and what comes back."""

    def __init__(self, socket):
        self.socket = socket

    async def configure(self, **config):
        await self.socket.send(json.dumps({"config": {**CONFIG, **config}}))

    async def ask(self, message):
        await self.socket.send(message if isinstance(message, bytes) else json.dumps(message))
        return json.loads(await self.socket.recv())


@pytest.fixture
async def client(live):
    async with connect(f"{live.ws}/", proxy=None) as socket:
        yield Client(socket)


async def test_each_message_has_an_answer_and_the_end_has_the_text(client, tone):
    await client.configure()
    texts = [await client.ask(tone(0.25, 0.2)) for _ in range(8)]
    assert all("partial" in text for text in texts)
    assert texts[-1]["partial"].startswith("w20")
    assert await client.ask({"eof": 1}) == {"text": "w20 w20 w20 w20"}
    with pytest.raises(ConnectionClosed) as closed:
        await client.socket.recv()
    assert closed.value.rcvd.code == 1000


async def test_words_come_with_their_times(client, tone):
    await client.socket.send('{ "config" : { "sample_rate" : 16000.000000 } }')
    await client.ask(tone(1.0, 0.2))
    told = await client.ask({"eof": 1})
    assert told["text"] == "w20 w20"
    assert told["result"] == [
        {"conf": 0.9, "end": 0.5, "start": 0.0, "word": "w20"},
        {"conf": 0.9, "end": 1.0, "start": 0.5, "word": "w20"},
    ]


async def test_alternatives(client, tone):
    await client.configure(max_alternatives=2)
    await client.ask(tone(0.5, 0.2))
    told = await client.ask({"eof": 1})
    assert told["alternatives"] == [
        {"confidence": 0.9, "text": "w20"},
        {"confidence": 0.9, "text": "w20"},
    ]


async def test_a_text_that_is_done_is_the_next_answer(client, tone, live):
    await client.configure()
    await client.ask(tone(1.0, 0.2))
    [stream] = live.engine.streams
    stream.finalize()
    assert await client.ask(tone(0.01, 0.3)) == {"text": "w20 w20"}
    assert await client.ask({"eof": 1}) == {"text": ""}


async def test_a_reset_ends_a_text_and_the_stream_goes_on(client, tone):
    await client.configure()
    await client.ask(tone(0.5, 0.2))
    assert await client.ask({"reset": 1}) == {"text": "w20"}
    await client.ask(tone(0.5, 0.3))
    assert await client.ask({"eof": 1}) == {"text": "w30"}


async def test_phrases_are_boosted(client, tone, live):
    await client.configure(phrase_list=["iced tea", "[unk]"])
    await client.ask(tone(0.5, 0.2))
    assert [boost.phrase for boost in live.engine.opened[-1].config.boosts] == ["iced tea"]


async def test_the_rate_is_eight_kilohertz_where_nobody_says_it(client, tone):
    await client.ask(tone(0.6, 0.2, 8000))
    assert (await client.ask({"eof": 1}))["text"] == "w20"


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ('{"config": 3}', "config: must be an object"),
        ('{"config": {"sample_rate": "fast"}}', "sample_rate: 'fast' is no whole number"),
        ('{"config": {"sample_rate": 16000.7}}', "sample_rate: '16000.7' is no whole number"),
        ('{"config": {"phrase_list": ["\\ud800"]}}', "a first message here is"),
        ('{"config": {"words": "false"}}', "words: must be true or false"),
        ('{"config": {"phrase_list": "tea"}}', "phrase_list: must be a list"),
    ],
)
async def test_what_is_no_message_closes_the_socket_with_its_reason(client, message, told):
    await client.socket.send(message)
    with pytest.raises(ConnectionClosed) as closed:
        await client.socket.recv()
    assert closed.value.rcvd.code == 1008
    assert told in closed.value.rcvd.reason


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("garbage", "must be an object of JSON"),
        ("[1]", "must be an object of JSON"),
        ('{"hello": 1}', "a message is audio, a config, eof or reset"),
    ],
)
async def test_so_does_one_behind_audio(client, tone, message, told):
    await client.ask(tone(0.5))
    await client.socket.send(message)
    with pytest.raises(ConnectionClosed) as closed:
        await client.socket.recv()
    assert told in closed.value.rcvd.reason


async def test_a_config_that_cannot_be_served_closes_the_socket_at_its_audio(client, tone):
    await client.configure(sample_rate=3)
    await client.socket.send(tone(0.5))
    with pytest.raises(ConnectionClosed) as closed:
        await client.socket.recv()
    assert "sample_rate=3" in closed.value.rcvd.reason


async def test_a_server_that_filled_up_meanwhile_closes_the_socket(client, tone, live):
    live.engine.max_streams = 0
    await client.socket.send(tone(0.5))
    with pytest.raises(ConnectionClosed) as closed:
        await client.socket.recv()
    assert closed.value.rcvd.code == 1013


async def test_a_stream_that_fails_closes_its_socket_alone(client, tone, live):
    async with connect(f"{live.ws}/", proxy=None) as other:
        await other.send(tone(0.5, 0.2, 8000))
        await other.recv()
        await client.configure()
        await client.ask(tone(0.5, 0.2))
        live.engine.opened[-1].fail(RuntimeError("broken"))
        with pytest.raises(ConnectionClosed) as closed:
            await client.socket.recv()
        assert closed.value.rcvd.code == 1011
        await other.send('{"eof" : 1}')
        assert json.loads(await other.recv())["text"] == "w20"


async def test_a_draining_server_gives_the_last_text_and_says_come_again(serve, tone):
    async with serve() as server, connect(f"{server.ws}/", proxy=None) as socket:
        client = Client(socket)
        await client.configure()
        await client.ask(tone(0.5, 0.2))
        server.server.should_exit = True
        assert json.loads(await socket.recv()) == {"text": "w20"}
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd.code == 1012


async def test_an_idle_client_gets_its_text_and_the_reason(serve, tone):
    async with serve(idle_timeout_s=0.2) as server, connect(f"{server.ws}/", proxy=None) as socket:
        client = Client(socket)
        await client.configure()
        await client.ask(tone(0.5, 0.2))
        assert json.loads(await socket.recv()) == {"text": "w20"}
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert "no audio for 0.2 s" in closed.value.rcvd.reason
