"""The protocol without a socket: messages and events in, actions out."""

import numpy as np
import pytest
from protocol_session import protocol, sent
from pydantic import ValidationError

from earshot.service.deepgram.listen_protocol import ListenProtocol, State
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.deepgram.response.wire import CONTROL
from earshot.service.errors import IdleSession
from earshot.service.request.boosts import BoostRules
from earshot.service.request.parameters import ListenParameters
from earshot.service.request.request_warning import RequestWarning
from earshot.service.served_model import ServedModel
from earshot.service.sessions.actions import (
    Ask,
    Close,
)
from earshot.service.writing import Writing
from earshot.streaming.errors import DecodingFailed, EngineStopped
from earshot.streaming.events import (
    Alternative,
    Closed,
    Configured,
    Failed,
    Final,
    LimitedBoost,
    Partial,
    RoomAvailable,
    SpeechStarted,
    UnboostablePhrase,
    UtteranceEnd,
    Word,
)
from earshot.streaming.requests import FINALIZE, FINISH, Cancel, Flush, Push
from earshot.streaming.stream_config import StreamConfig

SAY = Alternative(
    "iced tea", (Word("iced", 0.1, 0.4, 0.8, True), Word("tea", 0.5, 0.9, 0.6)), 0.7, -2.0
)


def test_audio_goes_to_the_stream():
    (action,) = protocol().receive_bytes(np.array([16384, 0], "<i2").tobytes())
    assert isinstance(action, Ask)
    assert action.request.samples.tolist() == [0.5, 0.0]


def test_an_odd_byte_waits_for_its_other_half():
    session = protocol()
    assert session.receive_bytes(b"\x00") == []
    (action,) = session.receive_bytes(b"\x40\x00\x40")
    assert action.request.samples.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("end", [b"", '{"type": "CloseStream"}'])
def test_the_end_flushes_the_resampler_and_then_the_stream(end):
    session = protocol(rate=8000)
    session.receive_bytes(bytes(1600))
    actions = session.receive_bytes(end) if isinstance(end, bytes) else session.receive_text(end)
    assert [type(action.request) for action in actions] == [Push, Flush]
    assert session.state is State.FINISHING


def test_a_stream_that_ends_well_sends_metadata_and_closes_normally():
    session = protocol()
    session.receive_bytes(b"\x01\x02")
    session.receive_text('{"type": "CloseStream"}')
    actions = session.receive_event(Closed(2.5))
    (metadata,) = sent(actions)
    assert metadata["type"] == "Metadata"
    assert metadata["duration"] == 2.5
    assert metadata["sha256"] == (
        "a12871fee210fb8619291eaea194581cbd2531e4b23759d225f6806923f63222"
    )
    assert actions[-1] == Close(1000)
    assert session.state is State.CLOSED


def test_after_the_end_nothing_of_the_client_counts():
    session = protocol()
    session.receive_text('{"type": "CloseStream"}')
    assert session.receive_bytes(b"\x00\x00") == []
    assert session.receive_text('{"type": "Finalize"}') == []
    assert session.receive_text("garbage") == []


def test_keep_alive_and_finalize():
    session = protocol()
    assert session.receive_text('{"type": "KeepAlive"}') == []
    assert session.receive_text('{"type": "Finalize", "extra": 1}') == [Ask(FINALIZE)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        "[]",
        "null",
        '{"type": "Dance"}',
        "{}",
        '{"type": "Configure", "keyterms": "x"}',
    ],
)
def test_what_is_no_control_message_is_answered_and_the_session_goes_on(text):
    session = protocol()
    (error,) = sent(session.receive_text(text))
    assert (error["type"], error["variant"]) == ("Error", "SchemaError")
    assert error["message"] == text
    assert error["description"]
    assert session.state is State.OPEN
    assert session.receive_text('{"type": "Finalize"}') == [Ask(FINALIZE)]


def test_a_long_wrong_message_is_not_echoed_whole():
    (error,) = sent(protocol().receive_text("x" * 10_000))
    assert len(error["message"]) == 200


@pytest.mark.parametrize(
    "wrong", ['"lm_weight": true', '"lm_weight": "0.2"', '"beam": "9"', '"max_active": 80.0']
)
def test_the_graph_is_configured_by_numbers_only(wrong):
    (error,) = sent(protocol().receive_text(f'{{"type": "Configure", {wrong}}}'))
    assert error["variant"] == "SchemaError"


def test_an_endless_message_is_refused_unread():
    session = protocol()
    (error,) = sent(session.receive_text('{"type": "Configure", "keyterms": [' + "1," * 80_000))
    assert error["variant"] == "SchemaError"
    assert "at most 131072" in error["description"]
    assert session.state is State.OPEN


def test_a_long_list_of_wrong_phrases_is_given_up_at_the_first():
    with pytest.raises(ValidationError) as caught:
        CONTROL.validate_json('{"type": "Configure", "keyterms": [' + "1," * 20_000 + "1]}")
    assert caught.value.error_count() == 1


def test_smart_format_is_for_finals():
    said = Alternative("ten", (Word("ten", 0.1, 0.4, 0.8),), 0.8, -2.0)
    messages = ResultMessages(
        "r", ServedModel("m", "1", "a", "u"), writing=Writing(smart_format=True)
    )
    parameters = ListenParameters(StreamConfig(), None, "json")
    session = ListenProtocol(messages, parameters, BoostRules(), 16000)
    (partial,) = sent(session.receive_event(Partial(0.0, 1.0, (said,), 1)))
    (final,) = sent(session.receive_event(Final(0.0, 1.0, (said,), True, False, "endpoint")))
    texts = [each["channel"]["alternatives"][0]["transcript"] for each in (partial, final)]
    assert texts == ["ten", "10"]


def test_a_partial_can_be_replaced_and_a_final_cannot():
    session = protocol()
    (partial,) = session.receive_event(Partial(0.0, 1.0, (SAY,), 1))
    (final,) = session.receive_event(Final(0.0, 1.0, (SAY,), True, False, "endpoint"))
    assert (partial.replaceable, final.replaceable) == (True, False)
    first, second = sent([partial, final])
    assert (first["is_final"], first["stable_words"], first["speech_final"]) == (False, 1, False)
    assert (second["is_final"], second["speech_final"], second["from_finalize"]) == (
        True,
        True,
        False,
    )
    assert "stable_words" not in second


@pytest.mark.parametrize("failed", [True, False])
def test_a_final_says_where_the_second_pass_has_failed(failed):
    final = Final(0.0, 1.0, (SAY,), True, False, "endpoint", second_pass_failed=failed)
    (message,) = sent(protocol().receive_event(final))
    assert message.get("second_pass_failed", False) is failed
    assert ("second_pass_failed" in message) is failed


def test_results_have_the_fields_that_clients_index():
    (action,) = protocol().receive_event(Final(1.0, 2.0, (SAY,), False, True, "finalize"))
    (message,) = sent([action])
    assert message["metadata"]["request_id"] == "request"
    assert message["channel_index"] == [0, 1]
    assert (message["start"], message["duration"], message["from_finalize"]) == (1.0, 2.0, True)
    (alternative,) = message["channel"]["alternatives"]
    assert (alternative["transcript"], alternative["confidence"]) == ("iced tea", 0.7)
    assert alternative["words"] == [
        {"word": "iced", "start": 0.1, "end": 0.4, "confidence": 0.8, "punctuated_word": "iced",
         "boosted": True},
        {"word": "tea", "start": 0.5, "end": 0.9, "confidence": 0.6, "punctuated_word": "tea"},
    ]  # fmt: skip


def test_a_result_without_words_has_an_empty_alternative():
    (message,) = sent(protocol().receive_event(Final(0.0, 0.0, (), True, True, "finalize")))
    assert message["channel"]["alternatives"] == [
        {"transcript": "", "confidence": 0.0, "words": []}
    ]


def test_speech_started_and_utterance_end():
    session = protocol()
    events = [SpeechStarted(0.25), UtteranceEnd(1.5)]
    started, ended = sent([a for event in events for a in session.receive_event(event)])
    assert started == {"type": "SpeechStarted", "channel": [0, 1], "timestamp": 0.25}
    assert ended == {"type": "UtteranceEnd", "channel": [0, 1], "last_word_end": 1.5}
    assert session.receive_event(RoomAvailable(1.0)) == []


FINAL = Final(0.0, 1.0, (), True, False, "endpoint")
X9 = {
    "parameter": "keyterm", "type": "unboostable_phrase", "message": "x9: no digits",
    "phrase": "x9",
}  # fmt: skip
DIARIZE = RequestWarning(
    parameter="diarize", type="unsupported_parameter", message="diarize: not done"
)


def test_a_warning_travels_in_the_next_final_and_in_metadata():
    session = protocol()
    assert session.opened() == []
    assert session.receive_event(UnboostablePhrase("x9", "no digits")) == []
    (partial,) = sent(session.receive_event(Partial(0.0, 1.0, (SAY,), 1)))
    first, second = (sent(session.receive_event(FINAL))[0] for _ in range(2))
    told = [each["metadata"].get("warnings") for each in (partial, first, second)]
    assert told == [None, [X9], None]
    (metadata,) = sent(session.receive_event(Closed(1.0)))
    assert metadata["warnings"] == [X9]
    assert metadata["model_info"][metadata["models"][0]]["name"] == "m"


def test_a_stream_without_warnings_has_no_such_field():
    session = protocol()
    (final,) = sent(session.receive_event(FINAL))
    (metadata,) = sent(session.receive_event(Closed(1.0)))
    assert "warnings" not in final["metadata"]
    assert "warnings" not in metadata


def test_who_asks_is_told_by_messages_too():
    session = protocol(tell_warnings=True, warnings=(DIARIZE,), keywords=("x9:2",))
    (of_parameter,) = sent(session.opened())
    assert of_parameter == {
        "type": "Warning", "code": "UNSUPPORTED_PARAMETER", "parameter": "diarize",
        "description": "diarize: not done",
    }  # fmt: skip
    (of_phrase,) = sent(session.receive_event(UnboostablePhrase("x9", "no digits")))
    assert of_phrase == {
        "type": "Warning", "code": "UNBOOSTABLE_PHRASE", "parameter": "keywords", "phrase": "x9",
        "description": "no digits",
    }  # fmt: skip
    (final,) = sent(session.receive_event(FINAL))
    told = [each["parameter"] for each in final["metadata"]["warnings"]]
    assert told == ["diarize", "keywords"]


def test_a_weight_that_counts_as_less_is_told_where_the_client_has_chosen_it():
    session = protocol(tell_warnings=True, keyterms=("tea:20", "toe"), keywords=("hot:9",))
    tea, hot = (LimitedBoost(phrase, 20.0, 6.0, "word") for phrase in ("tea", "hot"))
    assert session.receive_event(LimitedBoost("toe", 3.0, 2.7, "word")) == []
    (told,) = sent(session.receive_event(tea))
    assert told == {
        "type": "Warning", "code": "CHANGED_VALUE", "parameter": "keyterm", "phrase": "tea",
        "description": "the weight 20 counts as 6, the most that each of its words can earn "
        "beside the request's other phrases",
    }  # fmt: skip
    session.receive_event(hot)
    (final,) = sent(session.receive_event(FINAL))
    assert [
        (each["type"], each["parameter"], each["phrase"]) for each in final["metadata"]["warnings"]
    ] == [("changed_value", "keyterm", "tea"), ("changed_value", "keywords", "hot")]
    session.receive_text('{"type": "Configure", "keyterms": ["tea"], "keywords": []}')
    (success,) = sent(session.receive_event(Configured((tea,))))
    assert "warnings" not in success


def test_a_message_carries_a_hundred_warnings_and_says_how_many_more():
    session = protocol(tell_warnings=True)
    for index in range(103):
        session.receive_event(UnboostablePhrase(f"x{index}", "no digits"))
    (final,) = sent(session.receive_event(FINAL))
    *first, last = final["metadata"]["warnings"]
    assert [each["phrase"] for each in first] == [f"x{index}" for index in range(100)]
    assert last["message"].startswith("and 3 more; ")
    assert "phrase" not in last
    success, *told = sent(
        session.receive_event(
            Configured(tuple(UnboostablePhrase(f"x{index}", "no") for index in range(102)))
        )
    )
    assert (len(success["warnings"]), len(told)) == (101, 102)
    (metadata,) = sent(session.receive_event(Closed(1.0)))
    assert metadata["warnings"] == success["warnings"]


def test_a_configures_warnings_replace_those_of_the_phrases_before():
    session = protocol(warnings=(DIARIZE,))
    session.receive_event(UnboostablePhrase("old 5", "no digits"))
    session.receive_text('{"type": "Configure", "keyterms": ["x9"]}')
    (success,) = sent(session.receive_event(Configured((UnboostablePhrase("x9", "no digits"),))))
    assert success["warnings"] == [X9]
    (final,) = sent(session.receive_event(FINAL))
    assert [each["parameter"] for each in final["metadata"]["warnings"]] == ["diarize", "keyterm"]
    assert final["metadata"]["warnings"][1] == X9
    (metadata,) = sent(session.receive_event(Closed(1.0)))
    assert metadata["warnings"] == final["metadata"]["warnings"]


@pytest.mark.parametrize(
    ("encoding", "data", "named"),
    [
        ("linear32", np.array([np.nan], "<f4").tobytes(), "NaN"),
        ("linear32", np.array([np.inf], "<f4").tobytes(), "infinite"),
        ("linear16", b"OggS" + bytes(40), "Ogg"),
        (None, bytes(40), "encoding=linear16"),
    ],
)
def test_audio_that_is_none_ends_the_session_with_its_reason(encoding, data, named):
    session = protocol(encoding)
    actions = session.receive_bytes(data)
    assert actions[0] == Ask(Cancel())
    (error,) = sent(actions)
    assert named in error["description"]
    close = actions[-1]
    assert (close.code, close.reason[:10]) == (1008, "DATA-0000:")
    assert session.state is State.CLOSED
    assert session.receive_bytes(data) == []


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (DecodingFailed("index 3 out of range"), 1011, "NET-0000: internal error"),
        (EngineStopped("the engine is not running"), 1012, "NET-0003: the engine is not running"),
    ],
)
def test_a_failed_stream_closes_with_a_code_to_retry_on(error, code, reason):
    actions = protocol().receive_event(Failed(error))
    assert actions[-1] == Close(code, reason)


def test_a_session_fails_once():
    session = protocol()
    assert session.fail(IdleSession("idle"))[-1] == Close(1011, "NET-0001: idle")
    assert session.fail(IdleSession("idle")) == []
    assert session.receive_event(Closed(0.0)) == []


def test_a_silent_client_gets_its_last_results_before_it_is_closed():
    session, idle = protocol(), IdleSession("no audio for 10 s")
    assert session.idle(idle) == [Ask(FINISH)]
    assert session.awaits is None
    assert session.idle(idle) == []
    *told, close = session.receive_event(Closed(1.0))
    error, metadata = sent(told)
    assert (error["type"], error["description"]) == ("Error", "no audio for 10 s")
    assert metadata["type"] == "Metadata"
    assert close == Close(1011, "NET-0001: no audio for 10 s")
    assert close.error is idle


def test_a_drain_finishes_the_stream_and_asks_to_reconnect():
    session = protocol()
    assert session.drain() == [Ask(FINISH)]
    final, *_ = session.receive_event(Final(0.0, 1.0, (SAY,), True, False, "end"))
    assert sent([final])[0]["is_final"]
    actions = session.receive_event(Closed(1.0))
    assert sent(actions)[0]["type"] == "Metadata"
    assert actions[-1] == Close(1012, "the server is restarting")


def test_a_drain_while_finishing_only_waits():
    session = protocol()
    session.receive_text('{"type": "CloseStream"}')
    assert session.drain() == []


def test_a_client_that_is_gone_frees_its_stream():
    session = protocol()
    assert session.disconnect() == [Ask(Cancel())]
    assert session.receive_event(Closed(0.0)) == []


def test_half_a_wav_header_is_an_error():
    session = protocol(encoding=None)
    assert session.receive_bytes(b"RIFF\x24\x00\x00\x00WAVEfmt ") == []
    actions = session.receive_text('{"type": "CloseStream"}')
    assert sent(actions)[0]["variant"] == "UNDECODABLE_AUDIO"
    assert actions[-1].code == 1008
