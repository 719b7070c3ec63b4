"""Realtime sessions of transcription, over a real socket."""

import base64
import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from earshot.streaming.events import NotConfigured

RATE = 16_000
"""The scripted engine's: a resampler would hold back a hundredth of a second."""


class Client:
    """Sends events and reads those that come."""

    def __init__(self, socket):
        self.socket = socket

    async def send(self, kind, **told):
        await self.socket.send(json.dumps({"type": kind, **told}))

    async def say(self, audio):
        await self.send("input_audio_buffer.append", audio=base64.b64encode(audio).decode())

    async def receive(self):
        return json.loads(await self.socket.recv())

    async def begin(self):
        """Say how samples come."""
        assert (await self.receive())["type"] == "session.created"
        audio = {"input": {"format": {"type": "audio/pcm", "rate": RATE}}}
        await self.send("session.update", session={"type": "transcription", "audio": audio})
        assert (await self.receive())["type"] == "session.updated"

    async def until(self, kind):
        """All events up to one of a kind, by their kinds, and that one."""
        kinds = []
        while (event := await self.receive())["type"] != kind:
            kinds.append(event["type"].rpartition(".")[2])
        return kinds, event


COMPLETED = "conversation.item.input_audio_transcription.completed"
DELTA = "conversation.item.input_audio_transcription.delta"


@pytest.fixture
async def client(live):
    async with connect(f"{live.ws}/v1/realtime?intent=transcription", proxy=None) as socket:
        client = Client(socket)
        await client.begin()
        yield client


async def test_a_turn_that_the_client_commits(client, tone):
    await client.say(tone(1.0, 0.2, RATE))
    assert (await client.receive())["delta"] == "w20"  # the last word is not stable yet
    await client.send("input_audio_buffer.commit")
    kinds, completed = await client.until(COMPLETED)
    assert kinds == ["committed", "added", "done", "delta"]
    assert completed["transcript"] == "w20 w20"
    assert completed["usage"] == {"type": "duration", "seconds": 1.0}


async def test_a_pause_ends_a_turn_and_the_next_one_is_another_item(client, tone, live):
    items = []
    for level in (0.2, 0.3):
        await client.say(tone(1.0, level, RATE))
        await client.until(DELTA)
        live.engine.streams[0]._final("endpoint")
        kinds, completed = await client.until(COMPLETED)
        assert kinds == ["speech_stopped", "committed", "added", "done", "delta"]
        items.append(completed["item_id"])
    assert len(set(items)) == 2


async def test_an_update_says_what_is_heard_and_is_told_back(client, tone, live):
    await client.send(
        "session.update",
        session={
            "type": "transcription",
            "audio": {
                "input": {
                    "format": {"type": "audio/pcm", "rate": RATE},
                    "transcription": {
                        "model": "gpt-4o-transcribe",
                        "language": "en",
                        "keywords": ["iced tea"],
                    },
                    "turn_detection": {"type": "server_vad", "silence_duration_ms": 500},
                }
            },
        },
    )
    updated = await client.receive()
    assert updated["type"] == "session.updated"
    assert updated["session"]["audio"]["input"]["transcription"]["keywords"] == ["iced tea"]
    await client.say(tone(1.0, 0.2, RATE))
    await client.until(DELTA)
    config = live.engine.opened[-1].config
    assert [boost.phrase for boost in config.boosts] == ["iced tea"]
    assert config.endpoint.silence_ms == 500
    assert config.punctuate


async def test_a_session_of_the_beta_and_turns_by_commits_alone(client, tone, live):
    await client.send(
        "transcription_session.update",
        session={
            "input_audio_format": "g711_alaw",
            "input_audio_transcription": {"model": "whisper-1"},
            "turn_detection": None,
        },
    )
    told = (await client.receive())["session"]["audio"]["input"]
    assert told["turn_detection"] is None
    assert told["format"] == {"type": "audio/pcma", "rate": 8000}
    await client.say(bytes(9000))
    await client.until(DELTA)
    assert live.engine.opened[-1].config.endpoint.silence_ms is None


@pytest.mark.parametrize("kind", ["audio/pcmu", "audio/pcma"])
async def test_a_telephones_audio(client, kind):
    audio = {"input": {"format": {"type": kind}}}
    await client.send("session.update", session={"type": "transcription", "audio": audio})
    told = (await client.receive())["session"]["audio"]["input"]["format"]
    assert told == {"type": kind, "rate": 8000}
    await client.say(bytes([0x80]) * 9000 if kind == "audio/pcmu" else bytes([0xAA]) * 9000)
    assert (await client.until(DELTA))[1]["delta"].startswith("w9")


async def test_keywords_may_change_while_audio_comes(client, tone, live):
    await client.say(tone(1.0, 0.2, RATE))
    await client.until(DELTA)
    words = {"type": "transcription", "audio": {"input": {"transcription": {"keywords": ["tea"]}}}}
    await client.send("session.update", session=words)
    await client.until("session.updated")
    assert [boost.phrase for boost in live.engine.opened[-1].boosts] == ["tea"]
    other = {"type": "transcription", "audio": {"input": {"turn_detection": None}}}
    await client.send("session.update", session=other)
    assert "only keywords may change" in (await client.receive())["error"]["message"]


async def test_what_is_cleared_is_never_told(client, tone):
    await client.say(tone(0.4, 0.2, RATE))
    await client.send("input_audio_buffer.clear")
    await client.until("input_audio_buffer.cleared")
    await client.say(tone(0.5, 0.3, RATE))
    await client.send("input_audio_buffer.commit")
    _, completed = await client.until(COMPLETED)
    assert completed["transcript"] == "w30"


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"type": "response.create"}, "'response.create' is not done here"),
        ({"no": "type"}, "None is not done here"),
        ({"type": "input_audio_buffer.commit"}, "no audio to commit"),
        ({"type": "input_audio_buffer.append"}, "must be a text of base64"),
        ({"type": "input_audio_buffer.append", "audio": "!"}, "must be a text of base64"),
        ({"type": "input_audio_buffer.append", "audio": "é"}, "must be a text of base64"),
        ({"type": "session.update"}, "session: must be an object"),
        ({"type": "session.update", "session": {"type": "realtime"}}, 'must be "transcription"'),
        ({"type": "session.update", "session": {"audio": 3}}, "audio: must be an object"),
        (
            {"type": "session.update", "session": {"input_audio_format": "opus"}},
            "format: opus is not served",
        ),
        (
            {"type": "session.update", "session": {"audio": {"input": {"format": {
                "type": "audio/pcm", "rate": "fast"}}}}},
            "format.rate: must be a whole number",
        ),
        (
            {"type": "session.update", "session": {
                "input_audio_transcription": {"model": "no-such"}}},
            "model=no-such",
        ),
        (
            {"type": "session.update", "session": {
                "input_audio_transcription": {"keywords": "tea"}}},
            "keywords: must be a list",
        ),
    ],
)  # fmt: skip
async def test_what_is_wrong_is_told_and_the_session_goes_on(client, tone, event, told):
    await client.socket.send(json.dumps({**event, "event_id": "mine"}))
    answer = await client.receive()
    assert answer["type"] == "error"
    assert told in answer["error"]["message"]
    assert answer["error"]["event_id"] == "mine"
    await client.say(tone(0.5, 0.2, RATE))
    await client.send("input_audio_buffer.commit")
    _, completed = await client.until(COMPLETED)
    assert completed["transcript"] == "w20"


@pytest.mark.parametrize(
    "message",
    [b"bytes", "garbage", "[]", '{"event_id": "\\ud800"}', '{"type": NaN}', "[" * 50_000],
)
async def test_what_is_no_event_is_told(client, message):
    await client.socket.send(message)
    assert (await client.receive())["type"] == "error"


async def test_a_stream_that_fails_says_so_and_closes(client, tone, live):
    await client.say(tone(1.0, 0.2, RATE))
    await client.until(DELTA)
    live.engine.opened[-1].fail(RuntimeError("broken"))
    assert (await client.receive())["error"]["type"] == "server_error"
    with pytest.raises(ConnectionClosed) as closed:
        await client.socket.recv()
    assert closed.value.rcvd.code == 1011


async def test_a_draining_server_gives_the_last_turn_first(serve, tone):
    async with serve() as server, connect(f"{server.ws}/v1/realtime", proxy=None) as socket:
        client = Client(socket)
        await client.begin()
        await client.say(tone(1.0, 0.2, RATE))
        await client.until(DELTA)
        server.server.should_exit = True
        _, completed = await client.until(COMPLETED)
        assert completed["transcript"] == "w20 w20"
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd.code == 1012


async def test_keywords_that_cannot_be_had_later_are_told(client, tone, live):
    await client.say(tone(1.0, 0.2, RATE))
    await client.until(DELTA)
    live.engine.opened[-1].sink(NotConfigured("the lists of the request cannot be compiled"))
    assert "cannot be compiled" in (await client.receive())["error"]["message"]


async def test_keywords_alone_may_follow_a_session_that_names_its_model(client, tone):
    for named in ({"model": "whisper-1", "language": "en"}, {"keywords": ["tea"]}):
        audio = {"input": {"transcription": named}}
        await client.send("session.update", session={"type": "transcription", "audio": audio})
        told = (await client.receive())["session"]["audio"]["input"]["transcription"]
    assert told == {"model": "whisper-1", "language": "en", "keywords": ["tea"]}


async def test_what_is_asked_in_vain_is_told_back_with_what_is_done(client):
    audio = {
        "input": {
            "transcription": {"language": "multi", "prompt": "tea"},
            "turn_detection": {"type": "semantic_vad", "eagerness": "high"},
        }
    }
    await client.send("session.update", session={"type": "transcription", "audio": audio})
    session = (await client.receive())["session"]
    assert [each["parameter"] for each in session["warnings"]] == ["language", "eot_threshold"]
    told = session["audio"]["input"]
    assert told["transcription"] == {"language": "multi"}
    assert told["turn_detection"] == {"type": "server_vad"}


async def test_an_eagerness_that_is_none_is_refused(client) -> None:
    audio = {"input": {"turn_detection": {"type": "semantic_vad", "eagerness": "huge"}}}
    await client.send("session.update", session={"type": "transcription", "audio": audio})
    assert "eagerness" in (await client.receive())["error"]["message"]


async def test_a_silent_client_is_told_so_and_closed(serve, tone):
    async with (
        serve(idle_timeout_s=0.2) as server,
        connect(f"{server.ws}/v1/realtime", proxy=None) as socket,
    ):
        client = Client(socket)
        await client.begin()
        await client.say(tone(1.0, 0.2, RATE))
        _, completed = await client.until(COMPLETED)
        assert completed["transcript"] == "w20 w20"
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert "no event for 0.2 s" in closed.value.rcvd.reason
