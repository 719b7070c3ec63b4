"""A session whose client does not read, without a network between."""

import asyncio

import pytest
from starlette.websockets import WebSocketDisconnect

from earshot.service.core.metrics import Metrics
from earshot.service.deepgram.listen_protocol import ListenProtocol
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.request.boosts import BoostRules
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules, parse_parameters
from earshot.service.served_model import ServedModel
from earshot.service.sessions.latency_clock import LatencyClock
from earshot.service.sessions.session import Session, SessionLimits
from earshot.streaming.requests import Cancel


class Unread:
    """A socket whose client sends a few messages and then neither reads nor writes."""

    def __init__(self, texts):
        self.texts = list(texts)
        self.count = len(self.texts)
        self.sending = None
        self.closed_with = None

    async def receive(self):
        while self.sending is None:
            await asyncio.sleep(0)
            if len(self.texts) == self.count:
                break
        if not self.texts:
            await asyncio.Event().wait()
        return {"type": "websocket.receive", "text": self.texts.pop(0)}

    async def send_text(self, text):
        self.sending = text
        await asyncio.Event().wait()

    async def close(self, code, reason):
        self.closed_with = code


class NoStream:
    """A stream that is only cancelled."""

    def ask(self, request):
        assert request == Cancel()


@pytest.fixture
def protocol():
    rules = ParameterRules(ModelNames("m"), BoostRules(), part_caps={"max_active": 1000})
    query = [("encoding", "linear16"), ("sample_rate", "16000")]
    parameters = parse_parameters(query, rules, is_file=False)
    messages = ResultMessages("id", ServedModel("m", "1", "conformer", "uuid"))
    return ListenProtocol(messages, parameters, rules.boosts, 16000)


class Left:
    """A socket whose client is gone at once."""

    def __init__(self, code):
        self.code = code

    async def receive(self):
        return {"type": "websocket.disconnect", "code": self.code}

    async def send_text(self, text):
        raise AssertionError(text)

    async def close(self, code, reason):
        raise WebSocketDisconnect(self.code)


@pytest.mark.parametrize("code", [1001, 1007, 1009])
async def test_the_code_that_a_socket_was_left_with_is_known(protocol, code):
    session = Session(Left(code), protocol, SessionLimits(), [LatencyClock(Metrics(), 16000)])

    async def accept():
        pass

    async with asyncio.timeout(60):
        await session.run([NoStream()], accept)
    assert session.close_code == code


async def test_an_idle_client_with_a_full_outbox_is_closed_all_the_same(protocol):
    # One answer is being sent, one waits, and the error of the idle session has no room.
    socket = Unread(["garbage", "garbage"])
    [answer] = protocol.receive_text("garbage")
    room = len(answer.message.to_json()) + 10
    limits = SessionLimits(idle_timeout_s=0.05, send_timeout_s=0.2, max_outbox_bytes=room)
    session = Session(socket, protocol, limits, [LatencyClock(Metrics(), 16000)])

    async def accept():
        pass

    async with asyncio.timeout(60):
        await session.run([NoStream()], accept)
    assert socket.closed_with == session.close_code
