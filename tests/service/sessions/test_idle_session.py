"""When a client counts as idle, by a clock that the test turns."""

import asyncio

import numpy as np
import pytest

from earshot.service.core.metrics import Metrics
from earshot.service.deepgram.listen_protocol import ListenProtocol
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.errors import IdleSession
from earshot.service.request.boosts import BoostRules
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules, parse_parameters
from earshot.service.served_model import ServedModel
from earshot.service.sessions.latency_clock import LatencyClock
from earshot.service.sessions.session import Session, SessionLimits
from earshot.streaming.stream_config import StreamConfig

LIMIT_S = 10.0
TURN_S = 0.05
TURNS_TO_READ = 20
"""Of the loop, between a message in a socket's buffer and the session."""


class Client:
    """A socket; what it sends arrives some turns of the loop later, as from a real one."""

    def __init__(self):
        self.sent = asyncio.Queue()
        self.received = []
        self.closed_with = None

    async def receive(self):
        message = await self.sent.get()
        for _ in range(TURNS_TO_READ):
            await asyncio.sleep(0)
        return {"type": "websocket.receive", **message}

    async def send_text(self, text):
        self.received.append(text)

    async def close(self, code, reason):
        self.closed_with = code


class Clock:
    """The loop's time: it stands unless the test turns it."""

    def __init__(self, loop):
        self.now_s = loop.time()

    def __call__(self):
        return self.now_s

    async def pause(self, seconds):
        """The process is stopped, and goes on."""
        self.now_s += seconds
        await self.pass_time(1.0)

    async def pass_time(self, seconds):
        """Nothing is in the loop's way."""
        for _ in range(round(seconds / TURN_S)):
            self.now_s += TURN_S
            for _ in range(2 * TURNS_TO_READ):
                await asyncio.sleep(0)


@pytest.fixture
def client():
    return Client()


@pytest.fixture
async def clock(monkeypatch):
    loop = asyncio.get_running_loop()
    clock = Clock(loop)
    monkeypatch.setattr(loop, "time", clock)
    return clock


@pytest.fixture
async def session(clock, client, engine):
    rules = ParameterRules(ModelNames("m"), BoostRules(), part_caps={"max_active": 1000})
    query = [("encoding", "linear16"), ("sample_rate", "16000")]
    parameters = parse_parameters(query, rules, is_file=False)
    messages = ResultMessages("id", ServedModel("m", "1", "conformer", "uuid"))
    protocol = ListenProtocol(messages, parameters, rules.boosts, 16000)
    limits = SessionLimits(idle_timeout_s=LIMIT_S)
    session = Session(client, protocol, limits, [LatencyClock(Metrics(), 16000)])
    stream = engine.open(StreamConfig(interim_results=False), session.post)

    async def accept():
        pass

    running = asyncio.create_task(session.run([stream], accept))
    await clock.pass_time(TURN_S)
    yield session
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_silent_client_is_idle_when_the_time_is_over(session, clock, client):
    await clock.pass_time(LIMIT_S - 1)
    assert client.closed_with is None
    await clock.pass_time(2)
    assert client.closed_with == 1011
    assert isinstance(session.error, IdleSession)


async def test_a_pause_of_the_server_is_not_the_clients(session, clock, client):
    await clock.pause(LIMIT_S + 2)
    await clock.pass_time(LIMIT_S - 2)
    assert client.closed_with is None
    await clock.pass_time(2)
    assert client.closed_with == 1011


@pytest.mark.parametrize("pause_s", [LIMIT_S + 0.01, LIMIT_S + 0.5, LIMIT_S + 60])
async def test_what_was_sent_during_a_pause_is_read_first(session, clock, client, pause_s):
    client.sent.put_nowait({"text": '{"type": "KeepAlive"}'})
    await clock.pause(pause_s)
    assert client.closed_with is None


async def test_what_an_idle_client_has_said_is_told_before_it_is_closed(session, clock, client):
    client.sent.put_nowait({"bytes": np.full(8000, 16384, "<i2").tobytes()})
    await clock.pass_time(LIMIT_S + 1)
    assert client.closed_with == 1011
    final, error, metadata = client.received
    assert '"transcript":"w50"' in final
    assert '"variant":"REQUEST_TIMEOUT"' in error
    assert '"type":"Metadata"' in metadata
