"""Turns that may well be over, as streams are told before they are."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import repeat

import pytest

from earshot.models.turns.turn_rule import TurnRule
from earshot.streaming.engine.engine import Engine
from earshot.streaming.events import EagerEndOfTurn, Event, Final, TurnResumed
from earshot.streaming.requests import Configure
from earshot.streaming.stream_config import (
    EndpointConfig,
    StreamConfig,
    StreamPriority,
    TurnConfig,
)
from earshot.streaming.turns.turn_step import TurnStep
from earshot.streaming.u2 import two_pass

SAID = -2.0
"""What the end of any text has here: the rule asks 0.3 s for 0.5, 0.4 s for 0.6, 2.4 s for 0.9."""


def config(eager: float | None, threshold: float = 0.9) -> StreamConfig:
    turn = TurnConfig(threshold, eager_confidence=eager)
    return StreamConfig(interim_results=False, endpoint=EndpointConfig(silence_ms=5000, turn=turn))


@pytest.fixture
def engine(make_engine, tone_model, monkeypatch) -> Engine:
    """Hears tones, and finds every text as likely to end."""

    def scores(texts: Sequence[Sequence[str]]) -> list[float]:
        return [SAID] * len(texts)

    monkeypatch.setattr(two_pass, "turn_step", lambda parts, width: TurnStep(scores))
    built: Engine = make_engine(tone_model, max_streams=8)
    return built


@pytest.fixture
def told(engine, sounds) -> Callable[..., list[Event]]:
    """The events of a live stream that hears a text."""

    def hear(text: str, asked: StreamConfig, **options: object) -> list[Event]:
        options = {"priority": StreamPriority.LIVE, **options}
        events: list[Event] = sounds.transcribe(
            engine, sounds.speech(text), asked, **options
        ).events
        return events

    return hear


def names(events: Sequence[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_a_pause_tells_of_an_eager_end_and_then_ends_the_turn(told) -> None:
    events = told("一二______", config(0.6))
    assert names(events)[:2] == ["EagerEndOfTurn", "Final"]


def test_an_eager_end_has_all_words_before_the_pause(told) -> None:
    eager, final = told("一二三______", config(0.6))[:2]
    assert isinstance(eager, EagerEndOfTurn)
    assert isinstance(final, Final)
    assert eager.final.alternatives[0].text == final.alternatives[0].text == "一二三"


def test_speech_behind_an_eager_end_resumes_the_turn(told) -> None:
    events = told("一二 三____", config(0.5))
    assert names(events)[:4] == ["EagerEndOfTurn", "TurnResumed", "EagerEndOfTurn", "Final"]
    first, _, second, final = events[:4]
    assert isinstance(first, EagerEndOfTurn)
    assert isinstance(second, EagerEndOfTurn)
    assert isinstance(final, Final)
    texts = [first.final.alternatives[0].text, second.final.alternatives[0].text]
    assert texts == ["一二", "一二三"]
    assert final.alternatives[0].text == "一二三"


def test_what_is_told_is_as_likely_as_was_asked(told) -> None:
    eager, final = told("一二______", config(0.6))[:2]
    assert isinstance(eager, EagerEndOfTurn)
    assert isinstance(final, Final)
    assert eager.final.end_of_turn_confidence is not None
    assert 0.6 <= eager.final.end_of_turn_confidence < 0.65
    assert final.end_of_turn_confidence == TurnRule().confidence(SAID, final.pause_s * 1000)
    assert 0.9 <= final.end_of_turn_confidence < 0.91


def test_finals_are_the_same_whether_eager_ends_are_told_or_not(told) -> None:
    text = "一二三 四____五六"
    finals = [
        [event.alternatives[0].text for event in told(text, config(eager)) if type(event) is Final]
        for eager in (None, 0.5)
    ]
    assert finals[0] == finals[1]


def test_who_asks_for_none_is_told_of_none(told) -> None:
    assert "EagerEndOfTurn" not in names(told("一二_三____", config(None)))


def test_a_threshold_of_one_leaves_the_end_to_the_silence(told) -> None:
    asked = StreamConfig(
        endpoint=EndpointConfig(silence_ms=1400, turn=TurnConfig(1.0, eager_confidence=0.6))
    )
    finals = [event for event in told("一二______", asked) if isinstance(event, Final)]
    assert 1.4 <= finals[0].pause_s < 1.45


def test_nobody_knows_how_likely_the_end_is_where_nobody_asked(told) -> None:
    finals = [event for event in told("一二___", StreamConfig()) if isinstance(event, Final)]
    assert [final.end_of_turn_confidence for final in finals] == [None] * len(finals)


@pytest.mark.parametrize("size", [37, 1600, 100_000])
def test_packets_make_no_difference(told, size: int) -> None:
    text = "一 二 三四  五   六 七八_九"
    of_packets = [told(text, config(0.5), sizes=repeat(each)) for each in (800, size)]
    assert of_packets[0] == of_packets[1]
    assert "TurnResumed" in names(of_packets[0])


def test_a_flush_has_no_likelihood_of_an_end(engine, sounds) -> None:
    listener = sounds.Listener()
    stream = engine.open(config(0.5), listener, StreamPriority.LIVE)
    sounds.push_all(stream, sounds.speech("一 "))
    listener.wait_for(lambda event: isinstance(event, EagerEndOfTurn))
    stream.finish()
    listener.wait_for_last()
    assert [final.end_of_turn_confidence for final in listener.finals] == [None]


def test_a_turn_without_words_is_asked_about_once_a_pause(engine, told, monkeypatch) -> None:
    asked = []
    usual = two_pass.TwoPass._eager_ending

    def without_words(self, stream):
        asked.append(stream)
        return replace(usual(self, stream), scored=[], hypotheses=[])

    monkeypatch.setattr(two_pass.TwoPass, "_eager_ending", without_words)
    monkeypatch.setattr(two_pass.TwoPass, "finish", lambda *_: None)
    events = told("一_ 二_", config(0.5))
    assert len(asked) == 2
    assert not {"EagerEndOfTurn", "TurnResumed"} & set(names(events))


def test_a_second_pass_that_fails_at_an_eager_end_leaves_the_firsts_words(
    engine, told, monkeypatch
) -> None:
    monkeypatch.setattr(two_pass.TwoPass, "finish", lambda *_: 1 / 0)
    eager, final = told("一二______", config(0.6))[:2]
    assert isinstance(eager, EagerEndOfTurn)
    assert isinstance(final, Final)
    assert [each.second_pass_failed for each in (eager.final, final)] == [True, True]
    assert eager.final.alternatives[0].text == "一二"


def test_other_thresholds_hold_from_the_next_pause_on(engine, sounds) -> None:
    listener = sounds.Listener()
    stream = engine.open(config(None), listener, StreamPriority.LIVE)
    sounds.push_all(stream, sounds.speech("一"))
    stream.ask(Configure((), endpoint=config(0.6).endpoint))
    sounds.push_all(stream, sounds.speech("二______"))
    listener.wait_for(lambda event: isinstance(event, EagerEndOfTurn))
    listener.wait_for(lambda event: isinstance(event, Final))


def test_a_turn_is_not_resumed_that_nobody_was_told_of(told) -> None:
    assert not any(isinstance(each, TurnResumed) for each in told("一二 三____", config(0.85)))
