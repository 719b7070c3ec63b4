"""One stream's life as an operator sees it, with --debug alone."""

import json

import pytest

from earshot.service.core.stream_trace import MAX_EVENTS, MAX_TRACES, StreamTrace, StreamTraces
from earshot.streaming.errors import EngineStopped, StreamClosed
from earshot.streaming.events import Closed, Failed
from earshot.streaming.requests import FINISH, Cancel


async def asked(server, request_id):
    async with server.client() as client:
        return await client.get(f"/debug/streams/{request_id}")


async def test_without_the_setting_there_is_no_such_path(live):
    async with live.listen() as socket:
        answer = await asked(live, socket.response.headers["dg-request-id"])
    assert answer.status_code == 404
    assert "/debug" not in answer.text.replace("GET /debug/streams", "")


async def test_a_live_stream_tells_its_events_and_its_engine_but_no_text(serve, tone, read):
    async with serve(debug=True) as server, server.listen() as socket:
        request_id = socket.response.headers["dg-request-id"]
        await socket.send(tone(1.0, 0.77))
        await socket.send('{"type": "Finalize"}')
        while not json.loads(await socket.recv()).get("is_final"):
            pass
        answer = await asked(server, request_id)
    told = answer.json()
    assert [event["what"] for event in told["events"]] == ["Flush", "Final"]
    final = told["events"][-1]
    assert (final["start_s"], final["duration_s"], final["words"]) == (0.0, 1.0, 2)
    assert final["cause"] == "finalize"
    assert 0 <= final["at_s"] <= told["age_s"]
    [stream] = told["streams"]
    assert (stream["channel"], stream["engine_pid"], stream["decoded_s"]) == (0, 4321, 1.0)
    assert (stream["steps"], stream["worst_wait_s"]) == (7, 0.0123)
    assert stream["search_counts"] == {"overflows": 1}
    assert "w77" not in answer.text


async def test_a_stream_that_is_over_is_remembered(serve, read):
    async with serve(debug=True) as server:
        async with server.listen() as socket:
            request_id = socket.response.headers["dg-request-id"]
            await socket.send('{"type": "CloseStream"}')
            await read(socket)
        await server.idle()
        told = (await asked(server, request_id)).json()
    assert [event["what"] for event in told["events"]] == ["Flush", "Final", "Closed", "Cancel"]


async def test_an_id_that_is_none_is_said_to_be_unknown(serve):
    async with serve(debug=True) as server:
        answer = await asked(server, "nobody")
    assert answer.status_code == 404
    assert answer.json() == {"error": "no request nobody is remembered"}


async def test_memory_of_traces_is_bounded():
    traces = StreamTraces()
    for number in range(MAX_TRACES + 1):
        trace = traces.begin(str(number))
        for _ in range(MAX_EVENTS + 1 if number == MAX_TRACES else 1):
            trace.heard(Closed(0.0), 0)
    assert traces.get("0") is None
    assert traces.get("1") is not None
    assert len((await trace.describe())["events"]) == MAX_EVENTS


@pytest.fixture(autouse=True)
def _short_wait(monkeypatch):
    monkeypatch.setattr("earshot.service.core.stream_trace.ANSWER_S", 0.05)


async def test_an_engine_that_does_not_answer_holds_nobody_up(serve, engine):
    async with serve(debug=True) as server, server.listen() as socket:
        engine.answers_describe = False
        answer = await asked(server, socket.response.headers["dg-request-id"])
    [stream] = answer.json()["streams"]
    assert "steps" not in stream


async def test_all_channels_answer_before_they_are_told(serve):
    query = "encoding=linear16&sample_rate=16000&channels=2&multichannel=true"
    async with serve(debug=True) as server, server.listen(query) as socket:
        answer = await asked(server, socket.response.headers["dg-request-id"])
    assert [(each["channel"], each["steps"]) for each in answer.json()["streams"]] == [
        (0, 7),
        (1, 7),
    ]


async def test_a_stream_that_is_over_has_told_how_it_stood_before_its_end(serve, read):
    async with serve(debug=True) as server:
        async with server.listen() as socket:
            request_id = socket.response.headers["dg-request-id"]
            await socket.send('{"type": "CloseStream"}')
            await read(socket)
        await server.idle()
        [stream] = (await asked(server, request_id)).json()["streams"]
    assert stream["search_counts"] == {"overflows": 1}


class MuteStream:
    """A stream that never describes itself, and takes requests until it refuses them."""

    decoded_s, engine_pid = 0.0, None
    refusal: Exception | None = None

    def ask(self, request):
        if self.refusal is not None:
            raise self.refusal


def described_at_once(trace):
    """What there is to tell, without waiting for anybody."""
    with pytest.raises(StopIteration) as told:
        trace.describe().send(None)
    return told.value.value


@pytest.fixture
def mute():
    return MuteStream()


@pytest.fixture
def trace(mute):
    trace = StreamTrace()
    trace.open([mute])
    trace.asked(FINISH, 0)
    return trace


def test_a_stream_that_has_failed_without_an_answer_is_not_waited_for(trace, mute):
    mute.refusal = StreamClosed("it has failed")
    trace.heard(Failed(EngineStopped("the engine was stopped")), 0)
    assert [each["what"] for each in described_at_once(trace)["events"]] == ["Flush", "Failed"]


def test_a_stream_that_was_cancelled_is_not_waited_for(trace, mute):
    mute.refusal = StreamClosed("it was cancelled")
    trace.asked(Cancel(), 0)
    assert [each["what"] for each in described_at_once(trace)["events"]] == ["Flush", "Cancel"]


def test_an_engine_that_has_stopped_is_not_asked(mute):
    trace = StreamTrace()
    trace.open([mute])
    mute.refusal = EngineStopped("the engine is not running")
    assert described_at_once(trace)["streams"] == [
        {"channel": 0, "engine_pid": None, "decoded_s": 0.0}
    ]
