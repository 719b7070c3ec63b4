"""Utterances that end in a short pause where what was said is likely to be all."""

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from earshot.models.errors import ShapeMismatch
from earshot.models.turns.turn_head import STRETCHES, TurnHead, stretches_of
from earshot.models.turns.turn_rule import TurnRule
from earshot.streaming.engine.engine import Engine
from earshot.streaming.events import Final, Partial
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream_config import (
    EndpointConfig,
    StreamConfig,
    StreamPriority,
    TurnConfig,
)
from earshot.streaming.turns import turn_step as turn_step_module
from earshot.streaming.turns.turn_step import TurnStep, pause_stretches, turn_step
from earshot.streaming.u2 import two_pass

LIKELY, UNLIKELY = 0.0, -20.0
WIDTH = 80
"""Of the frames of the model that hears tones."""
TURNS = StreamConfig(endpoint=EndpointConfig(silence_ms=5000, turn=TurnConfig(0.75)))


class Script:
    """Ends that texts have, by their last word; it notes what it was asked about."""

    def __init__(self) -> None:
        self.ends: dict[str, float] = {}
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[Sequence[str]]) -> list[float]:
        self.asked += [list(text) for text in texts]
        return [self.ends.get(text[-1], UNLIKELY) for text in texts]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def make_turns(make_engine, tone_model, script, monkeypatch) -> Callable[..., Engine]:
    """Makes engines for tones that ask the script."""
    monkeypatch.setattr(two_pass, "turn_step", lambda parts, width: TurnStep(script))
    return lambda **options: make_engine(tone_model, **{"max_streams": 8, **options})


def said(finals: Sequence[Final]) -> list[tuple[str, str]]:
    return [(final.cause, final.alternatives[0].text) for final in finals]


def test_a_likely_end_takes_a_short_pause(make_turns, script, sounds) -> None:
    script.ends["二"] = LIKELY
    listener = sounds.Listener()
    stream = make_turns().open(TURNS, listener)
    sounds.push_all(stream, sounds.speech("一二 "))
    final = listener.wait_for(lambda event: isinstance(event, Final))
    assert said([final]) == [("endpoint", "一二")]


def test_a_final_tells_the_silence_in_which_it_ended(make_turns, script, sounds) -> None:
    script.ends["二"] = LIKELY
    listener = sounds.transcribe(make_turns(), sounds.speech("一二_三"), TURNS)
    ended, last = listener.finals
    assert 0.3 <= ended.pause_s < 0.8
    assert last.pause_s == 0


def test_an_unlikely_end_waits_for_what_follows(make_turns, script, sounds) -> None:
    script.ends["三"] = LIKELY
    listener = sounds.transcribe(
        make_turns(), sounds.speech("一二  三 _"), TURNS, priority=StreamPriority.LIVE
    )
    assert said(listener.finals)[:1] == [("endpoint", "一二三")]


def test_an_unlikely_end_waits_no_longer_than_for_any_silence(make_turns, sounds) -> None:
    endpoint = EndpointConfig(silence_ms=1400, turn=TurnConfig(0.75))
    listener = sounds.transcribe(
        make_turns(), sounds.speech("一二_三"), StreamConfig(endpoint=endpoint)
    )
    assert said(listener.finals) == [("endpoint", "一二"), ("end", "三")]


def test_the_least_pause_is_kept(make_turns, script, sounds) -> None:
    script.ends["一"] = script.ends["二"] = LIKELY
    patient = EndpointConfig(silence_ms=5000, turn=TurnConfig(0.75, least_ms=900))
    listener = sounds.transcribe(
        make_turns(), sounds.speech("一 二_三"), StreamConfig(endpoint=patient)
    )
    assert said(listener.finals) == [("endpoint", "一二"), ("end", "三")]


def test_a_text_is_asked_about_once_in_a_pause(make_turns, script, sounds) -> None:
    sounds.transcribe(make_turns(chunk_size=4), sounds.speech("一  二  三"), TURNS)
    assert script.asked[:2] == [["一"], ["一", "二"]]


def test_nobody_asks_for_streams_whose_pauses_are_of_one_length(make_turns, script, sounds) -> None:
    sounds.transcribe(make_turns(), sounds.speech("一  二"))
    assert script.asked == []


def packets(size: int) -> Iterator[int]:
    return repeat(size)


@pytest.mark.parametrize("size", [37, 1600, 100_000])
def test_packets_make_no_difference(make_turns, script, sounds, size: int) -> None:
    script.ends["二"] = script.ends["五"] = LIKELY
    samples = sounds.speech("一 二 三四  五   六 七八_九")
    engine = make_turns()
    told = [
        sounds.transcribe(engine, samples, TURNS, packets(each), StreamPriority.LIVE).finals
        for each in (800, size)
    ]
    assert told[0] == told[1]
    assert len(told[0]) > 2


def test_a_word_before_a_pause_does_not_wait_for_its_chunk(tone_model, make_engine, sounds) -> None:
    engine = make_engine(tone_model, chunk_size=75)  # three seconds
    listener = sounds.Listener()
    stream = engine.open(StreamConfig(), listener)
    sounds.push_all(stream, sounds.speech(" 一 "))
    partial = listener.wait_for(lambda event: isinstance(event, Partial))
    assert partial.alternatives[0].text == "一"


def test_a_failed_question_fails_its_stream_alone(make_turns, script, sounds) -> None:
    engine = make_turns()
    script.ends["二"] = "no number"  # type: ignore[assignment]
    bad, good = sounds.Listener(), sounds.Listener()
    streams = [engine.open(TURNS, each) for each in (bad, good)]
    for stream, text in zip(streams, ("一二  ", "一三  "), strict=True):
        sounds.push_all(stream, sounds.speech(text))
        stream.finish()
    assert type(bad.wait_for_last()).__name__ == "Failed"
    good.wait_for_last()
    assert good.text == "一三"


@pytest.fixture
def make_hearing(make_engine, tone_model, script, monkeypatch) -> Callable[..., Engine]:
    """Makes engines whose head says the same of each sound."""

    def make(sound: float, **options: object) -> Engine:
        head = random_head()
        monkeypatch.setattr(TurnHead, "sounds", lambda _, heard: [sound] * len(heard))
        monkeypatch.setattr(two_pass, "turn_step", lambda parts, width: TurnStep(script, head))
        return make_engine(tone_model, **{"max_streams": 8, **options})

    return make


@pytest.mark.parametrize(("sound", "wanted"), [(20.0, "一二"), (-20.0, "一二三")])
def test_what_sounds_over_is(make_hearing, sounds, sound: float, wanted: str) -> None:
    listener = sounds.transcribe(
        make_hearing(sound), sounds.speech("一二 三_"), TURNS, priority=StreamPriority.LIVE
    )
    assert listener.finals[0].alternatives[0].text == wanted


def test_a_head_hears_the_frames_around_the_first_silent_one(
    make_engine, tone_model, script, sounds, monkeypatch
) -> None:
    heard: list[tuple[Tensor, Tensor]] = []

    def note(stream: ActiveStream) -> Tensor:
        segment = stream.segment
        found = pause_stretches(stream)
        heard.append((found, stretches_of(segment.memory(), segment.detector.blank_run)))
        return found

    monkeypatch.setattr(turn_step_module, "pause_stretches", note)
    monkeypatch.setattr(two_pass, "turn_step", lambda parts, width: TurnStep(script, random_head()))
    engine = make_engine(tone_model, max_streams=8)
    sounds.transcribe(engine, sounds.speech("一二三四五  六_"), TURNS)
    assert heard
    for found, wanted in heard:
        torch.testing.assert_close(found, wanted, equal_nan=True)


def random_head() -> TurnHead:
    """A head whose every frame counts."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(len(STRETCHES), WIDTH, generator=generator) / WIDTH
    return TurnHead(weights, torch.zeros_like(weights), TurnRule())


@pytest.mark.parametrize("size", [37, 100_000])
def test_packets_make_no_difference_to_what_a_head_hears(
    make_engine, tone_model, script, sounds, monkeypatch, size: int
) -> None:
    asked: list[list[float]] = []

    class Noting(TurnHead):
        def sounds(self, stretches: Tensor) -> list[float]:
            asked[-1].extend(super().sounds(stretches))
            return super().sounds(stretches)

    head = Noting(random_head().weights, random_head().means, TurnRule())
    monkeypatch.setattr(two_pass, "turn_step", lambda parts, width: TurnStep(script, head))
    engine = make_engine(tone_model, max_streams=8)
    samples = sounds.speech("一 二 三四  五   六 七八_九")
    for each in (800, size):
        asked.append([])
        sounds.transcribe(engine, samples, TURNS, packets(each), StreamPriority.LIVE)
    assert asked[0] == asked[1]
    assert len(asked[0]) > 3


def test_a_head_of_other_frames_is_refused() -> None:
    head = TurnHead(torch.zeros(len(STRETCHES), 5), torch.zeros(len(STRETCHES), 5), TurnRule())
    parts = SimpleNamespace(end_scorer=lambda: Script(), get=lambda part: head)
    with pytest.raises(ShapeMismatch, match="hears frames of 5 numbers, not 4"):
        turn_step(parts, 4)
