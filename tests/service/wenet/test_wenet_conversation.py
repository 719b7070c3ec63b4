"""WeNet's protocol without a socket."""

import json

import pytest
from protocol_session import sent

from earshot.service.request.boosts import BoostRules
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.actions import Ask, Close
from earshot.service.wenet.wenet_conversation import WenetConversation
from earshot.streaming.events import Alternative, Final, Word
from earshot.streaming.requests import Cancel

RULES = ParameterRules(ModelNames("tiny"), BoostRules())


def started(*, continuous: bool) -> WenetConversation:
    session = WenetConversation(RULES, 16000)
    session.receive_text(json.dumps({"signal": "start", "continuous_decoding": continuous}))
    return session


def final(text: str, *, speech_final: bool) -> Final:
    words = tuple(Word(word, 0.0, 0.4, 0.9) for word in text.split())
    cause = "endpoint" if speech_final else "max_utterance"
    return Final(0.0, 1.0, (Alternative(text, words, 0.9, -1.0),), speech_final, False, cause)


@pytest.mark.parametrize("continuous", [False, True])
def test_silence_behind_a_cut_ends_a_session_that_does_not_go_on(continuous: bool) -> None:
    session = started(continuous=continuous)
    (cut,) = sent(session.receive_event(final("iced tea", speech_final=False)))
    assert cut["type"] == "final_result"
    actions = session.receive_event(final("", speech_final=True))
    if continuous:
        assert actions == []
        return
    assert actions[0] == Ask(Cancel())
    assert sent(actions[1:2]) == [{"status": "ok", "type": "speech_end"}]
    assert isinstance(actions[2], Close)


def test_silence_alone_ends_nothing() -> None:
    assert started(continuous=False).receive_event(final("", speech_final=True)) == []
