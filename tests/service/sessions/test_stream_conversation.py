"""What all conversations about one stream do alike, without a socket."""

import numpy as np
import pytest

from earshot.service.errors import BadRequest
from earshot.service.request.boosts import BoostRules
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules, parse_parameters
from earshot.service.sessions.actions import (
    RESTARTING,
    Action,
    Ask,
    Close,
    JsonMessage,
    Message,
    Open,
    Send,
)
from earshot.service.sessions.stream_conversation import StreamConversation
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.events import Alternative, Closed, Failed, Final, Partial, Word
from earshot.streaming.requests import FINISH, Cancel, Push

LAST = JsonMessage({"said": "last"})
RULES = ParameterRules(ModelNames("m"), BoostRules())
PARAMETERS = parse_parameters(
    [("encoding", "linear32"), ("sample_rate", "16000")], RULES, is_file=False
)


class Talk(StreamConversation):
    """Tells the texts of finals, and what goes wrong."""

    def begin(self) -> list[Action]:
        return self._begin(PARAMETERS)

    def hear(self, data: bytes) -> list[Action]:
        return self._hear(data)

    def finish(self) -> list[Action]:
        return self._finish()

    def _final(self, final: Final) -> list[Action]:
        text = self._written(final).alternatives[0].text
        return [Send(JsonMessage({"text": text}))]

    def _last(self) -> list[Message]:
        return [LAST]

    def _complaint(self, error: BaseException) -> list[Message]:
        return [JsonMessage({"wrong": str(error)})]


@pytest.fixture
def talk() -> Talk:
    return Talk(16_000)


def audio(value: float) -> bytes:
    return np.full(1600, value, "<f4").tobytes()


def test_the_stream_is_opened_when_it_begins_and_once(talk: Talk) -> None:
    assert talk.begin() == [Open(PARAMETERS.stream)]
    assert talk.begin() == []
    assert all(isinstance(action.request, Push) for action in talk.hear(audio(0.5)))


def test_it_ends_with_its_last_message_as_the_client_asked(talk: Talk) -> None:
    talk.begin()
    assert talk.finish()[-1] == Ask(FINISH)
    assert talk.awaits is None
    assert talk.receive_event(Closed(1.0)) == [Send(LAST), Close(1000)]
    assert talk.receive_event(Closed(1.0)) == []


def test_who_has_ended_is_closed_so_although_the_server_stops(talk: Talk) -> None:
    talk.begin()
    talk.finish()
    assert talk.drain() == []
    assert talk.receive_event(Closed(1.0))[-1] == Close(1000)


def test_a_stop_brings_last_results_and_a_code_to_come_again(talk: Talk) -> None:
    talk.begin()
    assert talk.drain()[-1] == Ask(FINISH)
    said = Alternative("Tea", (Word("Tea", 0.0, 1.0, 0.9),), 0.9, -1.0)
    final = Final(0.0, 1.0, (said,), True, False, "end")
    assert talk.receive_event(final) == [Send(JsonMessage({"text": "tea"}))]
    assert talk.receive_event(Closed(1.0)) == [Send(LAST), RESTARTING]


def test_a_stop_before_a_stream_closes_at_once(talk: Talk) -> None:
    assert talk.drain() == [RESTARTING]
    assert talk.awaits is None


def test_silence_brings_last_results_and_the_reason(talk: Talk) -> None:
    talk.begin()
    error = BadRequest("nothing came")
    assert talk.idle(error)[-1] == Ask(FINISH)
    assert talk.receive_event(Closed(1.0))[-1] == Close.of(error)


@pytest.mark.parametrize("by", ["audio", "engine", "session"])
def test_an_error_is_told_and_ends_it_once(talk: Talk, by: str) -> None:
    talk.begin()
    error = DecodingFailed("broken")
    actions = {
        "audio": lambda: talk.hear(audio(np.nan)),
        "engine": lambda: talk.receive_event(Failed(error)),
        "session": lambda: talk.fail(error),
    }[by]()
    assert [type(action) for action in actions] == [Ask, Send, Close]
    assert actions[0] == Ask(Cancel())
    assert talk.fail(error) == talk.drain() == talk.idle(error) == []


def test_nothing_is_told_to_who_is_gone(talk: Talk) -> None:
    talk.begin()
    assert talk.disconnect() == [Ask(Cancel())]
    assert talk.receive_event(Partial(0.0, 1.0, (), 0)) == []
