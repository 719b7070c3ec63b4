"""Flux's protocol without a socket: messages and events in, actions out."""

import numpy as np
import pytest
from flux_session import final, flux, heard, names, partial, said
from protocol_session import sent

from earshot.service.errors import IdleSession
from earshot.service.sessions.actions import Ask, Close
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.events import (
    Closed,
    EagerEndOfTurn,
    Failed,
    Final,
    TurnResumed,
)
from earshot.streaming.requests import FINALIZE, FINISH, Cancel, Push


def test_a_session_is_greeted():
    assert sent(flux().opened()) == [
        {"type": "Connected", "request_id": "request", "sequence_id": 0}
    ]


def test_what_is_asked_in_vain_is_warned_of_behind_the_greeting():
    _, warning = sent(flux(tag="mine").opened())
    assert warning == {
        "type": "Warning",
        "request_id": "request",
        "sequence_id": 1,
        "code": "UNSUPPORTED_PARAMETER",
        "description": "tag: not kept",
    }


def test_a_turn_starts_with_its_first_words_and_is_told_whole():
    (start,) = heard(flux(), partial("iced"))
    assert start == {
        "type": "TurnInfo",
        "request_id": "request",
        "sequence_id": 0,
        "event": "StartOfTurn",
        "turn_index": 0,
        "audio_window_start": 0.0,
        "audio_window_end": 1.0,
        "transcript": "iced",
        "words": [{"word": "iced", "confidence": 0.9, "start": 0.0, "end": 0.4}],
        "end_of_turn_confidence": 0.0,
    }


def test_turns_follow_each_other():
    messages = heard(
        flux(), partial("iced"), partial("iced tea"), final("iced tea"), partial("please")
    )
    assert names(messages) == ["StartOfTurn", "Update", "EndOfTurn", "StartOfTurn"]
    assert [each["turn_index"] for each in messages] == [0, 0, 0, 1]
    assert [each["sequence_id"] for each in messages] == [0, 1, 2, 3]


def test_a_partial_that_says_nothing_new_is_not_told():
    assert names(heard(flux(), partial(""), partial("tea"), partial("tea"))) == ["StartOfTurn"]


def test_an_eager_end_has_its_confidence_and_the_end_its_own():
    messages = heard(
        flux(), partial("tea"), EagerEndOfTurn(final("tea", 0.51234)), final("tea", 0.71)
    )
    assert names(messages) == ["StartOfTurn", "EagerEndOfTurn", "EndOfTurn"]
    assert [each["end_of_turn_confidence"] for each in messages] == [0.0, 0.5123, 0.71]


def test_an_eager_end_starts_a_turn_that_nobody_has_been_told_of():
    messages = heard(flux(), EagerEndOfTurn(final("tea", 0.5)))
    assert names(messages) == ["StartOfTurn", "EagerEndOfTurn"]


def test_speech_behind_an_eager_end_resumes_the_turn_once():
    session = flux()
    heard(session, EagerEndOfTurn(final("iced", 0.5)))
    messages = heard(session, TurnResumed(3.0), partial("iced tea"), TurnResumed(4.0))
    assert names(messages) == ["TurnResumed", "Update"]
    assert (messages[0]["transcript"], messages[0]["audio_window_end"]) == ("iced", 3.0)


def test_other_words_than_those_of_an_eager_end_resume_the_turn_first():
    session = flux()
    heard(session, EagerEndOfTurn(final("iced tea", 0.5)))
    assert names(heard(session, final("ice tea"))) == ["TurnResumed", "EndOfTurn"]


def test_what_the_first_pass_has_in_place_of_an_eager_ends_words_is_not_told():
    session = flux(numerals="true")
    (_, eager) = heard(session, EagerEndOfTurn(final("twenty five", 0.5)))
    messages = heard(session, partial("twenty five"), final("twenty five"))
    assert names(messages) == ["EndOfTurn"]
    assert eager["transcript"] == messages[0]["transcript"] == "25"


def test_silence_behind_a_cut_ends_the_turn():
    cut = final("iced tea", None, speech_final=False, cause="max_utterance")
    messages = heard(flux(), cut, final("", None, pause_s=3.0))
    assert names(messages) == ["StartOfTurn", "EndOfTurn"]
    assert (messages[-1]["transcript"], messages[-1]["trigger"]) == ("iced tea", "timeout")


def test_a_turn_that_has_become_too_long_ends_with_a_cut():
    cut = Final(0.0, 301.0, said("iced"), False, False, "max_utterance")
    messages = heard(flux(), cut, partial("tea"))
    assert names(messages) == ["StartOfTurn", "EndOfTurn", "StartOfTurn"]
    assert messages[1]["trigger"] == "timeout"


@pytest.mark.parametrize("event", [final("tea"), EagerEndOfTurn(final("tea"))])
def test_words_of_the_first_pass_alone_come_with_a_warning(event):
    told = final("tea", second_pass_failed=True)
    event = EagerEndOfTurn(told) if isinstance(event, EagerEndOfTurn) else told
    warning = heard(flux(), event)[0]
    assert (warning["type"], warning["code"]) == ("Warning", "SECOND_PASS_FAILED")


def test_words_that_are_taken_back_end_their_turn():
    messages = heard(flux(), partial("hm"), final(""))
    assert (names(messages), messages[-1]["transcript"]) == (["StartOfTurn", "EndOfTurn"], "")


def test_utterances_that_were_cut_for_their_length_are_one_turn():
    session = flux()
    cut = final("iced", None, speech_final=False, cause="max_utterance")
    messages = heard(session, partial("iced"), cut, partial("tea"), final("tea"))
    assert names(messages) == ["StartOfTurn", "Update", "Update", "EndOfTurn"]
    assert messages[-1]["transcript"] == "iced tea"
    assert [word["word"] for word in messages[-1]["words"]] == ["iced", "tea"]


def test_a_cut_behind_an_eager_end_resumes_the_turn():
    cut = final("iced", None, speech_final=False, cause="max_utterance")
    messages = heard(flux(), EagerEndOfTurn(final("iced", 0.5)), cut)
    assert names(messages)[-1] == "TurnResumed"


@pytest.mark.parametrize(
    ("ended", "trigger"),
    [
        (final("tea"), "model"),
        (final("tea", 0.6, pause_s=5.0), "timeout"),
        (final("tea", None), "model"),
        (final("tea", None, cause="finalize", from_finalize=True), "manual"),
        (final("tea", None, cause="end"), "manual"),
    ],
)
def test_an_end_says_what_has_ended_the_turn(ended, trigger):
    assert heard(flux(), ended)[-1]["trigger"] == trigger


def test_a_turn_ends_where_the_client_says_so():
    assert flux().receive_text('{"type": "ForceEndTurn"}') == [Ask(FINALIZE)]


def test_nothing_ends_where_there_is_no_turn():
    assert heard(flux(), final("", None, cause="finalize", from_finalize=True)) == []


def test_audio_goes_to_the_stream():
    (action,) = flux().receive_bytes(np.array([16384, 0], "<i2").tobytes())
    assert isinstance(action.request, Push)
    assert action.request.samples.tolist() == [0.5, 0.0]


@pytest.mark.parametrize("end", [b"", '{"type": "CloseStream"}'])
def test_the_end_of_the_audio_closes_the_session_behind_its_last_results(end):
    session = flux()
    actions = session.receive_bytes(end) if isinstance(end, bytes) else session.receive_text(end)
    assert actions[-1] == Ask(FINISH)
    assert session.receive_event(Closed(2.0)) == [Close(1000)]
    assert session.receive_event(partial("late")) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"type": "Finalize"}', "x" * 200_000])
def test_what_is_no_control_message_ends_the_session_with_an_error(text):
    cancel, told, close = flux().receive_text(text)
    assert cancel == Ask(Cancel())
    (error,) = sent([told])
    assert (error["type"], error["sequence_id"]) == ("Error", 0)
    assert (error["code"], close.code) == ("INVALID_QUERY_PARAMETER", 1008)
    assert "CloseStream" in error["description"]


def test_a_stream_that_fails_is_told_and_closed():
    _, told, close = flux().receive_event(Failed(DecodingFailed("decoding failed")))
    (error,) = sent([told])
    assert (error["type"], close.code) == ("Error", 1011)


def test_an_idle_client_is_told_why_behind_its_last_results():
    session = flux()
    assert session.idle(IdleSession("no audio for 10 s"))[-1] == Ask(FINISH)
    told, close = session.receive_event(Closed(1.0))
    (error,) = sent([told])
    assert (error["code"], close.code) == ("REQUEST_TIMEOUT", 1011)


def test_a_drain_closes_so_that_clients_reconnect():
    session = flux()
    assert session.drain()[-1] == Ask(FINISH)
    (close,) = session.receive_event(Closed(1.0))
    assert close.code == 1012


def test_texts_are_written_as_people_write_them_and_numbers_where_that_is_asked():
    words = final("twenty five")
    assert heard(flux(), words)[-1]["transcript"] == "twenty five"
    assert heard(flux(numerals="true"), words)[-1]["transcript"] == "25"
