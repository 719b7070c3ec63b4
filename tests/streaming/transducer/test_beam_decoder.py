"""Streams by a beam of labels: what was told stays, and endpoints lose nothing."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

import pytest
import torch
from break_once import break_once
from hypothesis import given
from hypothesis import strategies as st
from scripted_transducer import (
    BLANK,
    DURATIONS,
    QUIET,
    SIZE,
    UNITS,
    ScriptTokenizer,
    frame,
    scripted_transducer,
    torn,
)
from speaker import ENDLESS, QUICK, Script, Speaker, Told, step

from earshot.decoder_kernels.transducer.label_beam import BeamConfig, LabelBeam
from earshot.streaming.results.hypothesis import Best
from earshot.streaming.stream_config import Boost
from earshot.streaming.transducer.beam_decoder import BeamDecoder
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder

EOU = UNITS.index("<EOU>")
ONE, TWO, THREE, FOUR = map(frame, range(4))


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """As the engine's thread is."""
    with torch.inference_mode():
        yield


def decoder_of(slots: int = 1, width: int = 4) -> BeamDecoder:
    loop = label_loop_of(scripted_transducer(), slots, boost_capacity=100)
    return BeamDecoder(loop, LabelBeam(loop, BeamConfig(width)), ScriptTokenizer(), slots)


def speaker_of(decoder: BeamDecoder | TransducerDecoder, **options: Any) -> Speaker:
    return Speaker(decoder, SIZE, **options)


def best_of(speaker: Speaker) -> Best:
    [best] = speaker.decoder.best([speaker.stream])
    return best


def boosted(speaker: Speaker, *boosts: Boost) -> None:
    compiled = speaker.decoder.compile("transducer_beam", boosts, QUICK)
    speaker.decoder.configure(speaker.stream, QUICK, "transducer_beam", compiled)


def test_alternatives_have_times_and_confidences_of_their_own() -> None:
    speaker = speaker_of(decoder_of(), chunk=4).say([ONE, torn(1, 2), QUIET, torn(3, BLANK)])
    first, *others = speaker.decoder.nbest(speaker.stream, ended=False)
    assert first.text == "一二四"
    assert {each.text for each in others} >= {"一三四", "一二"}
    [other] = [each for each in others if each.text == "一三四"]
    assert tuple(other.frames) == (0, 1, 3)
    assert other.ends is not None
    assert tuple(other.ends) == (1, 2, 4)
    assert other.token_log_probs[1] == pytest.approx(first.token_log_probs[1] - 1.0, abs=1e-4)


def test_what_hypotheses_differ_in_is_not_stable() -> None:
    speaker = speaker_of(decoder_of(width=2)).say(
        [ONE, TWO, torn(2, 0), *[THREE] * 3, QUIET, QUIET]
    )
    best = best_of(speaker)
    assert best.hypothesis.text == "一二三三三三"
    assert best.stable_words == 1


def test_a_long_pause_that_may_hold_a_word_holds_none() -> None:
    """Each frame is surely none: that there are many of them makes no word."""
    speaker = speaker_of(decoder_of(), chunk=1, config=ENDLESS).say([torn(BLANK, 0, 5.0)] * 130)
    assert best_of(speaker).hypothesis.text == ""


def test_a_word_that_comes_to_lead_late_was_heard_when_it_was_said() -> None:
    """Silence is likelier than a word in each of two frames, and not than one in either."""
    script = [torn(BLANK, 0, 0.1), torn(BLANK, 0, 0.9)]
    speaker = speaker_of(decoder_of(), chunk=1).say(script[:1])
    assert best_of(speaker).hypothesis.text == ""
    assert speaker.stream.segment.detector.speech_frame is None
    speaker.say(script[1:])
    assert (best_of(speaker).hypothesis.text, tuple(best_of(speaker).hypothesis.frames)) == (
        "一",
        (0,),
    )
    assert speaker.stream.segment.detector.speech_frame == 0
    speaker.say([QUIET] * 3)
    assert [(each.cause, each.text) for each in speaker.finals] == [("endpoint", "一")]


def test_an_endpoint_leaves_the_likeliest_alone() -> None:
    speaker = speaker_of(decoder_of(), chunk=3).say([torn(0, 1), *[QUIET] * 3, THREE, QUIET])
    assert [each.text for each in speaker.finals] == ["一"]
    assert best_of(speaker).hypothesis.text == "三"


def test_a_flush_forgets_what_was_said() -> None:
    speaker = speaker_of(decoder_of()).say([torn(0, 1), QUIET]).flush()
    fresh = decoder_of()
    left = speaker.decoder.memory_of(speaker.stream)
    assert left.carried.tolist() == fresh.memory_of(speaker.stream).carried.tolist()  # type: ignore[attr-defined]
    [final] = speaker.say([TWO]).flush().finals[1:]
    assert (final.text, final.frames) == ("二", (2,))


def test_a_slot_that_is_freed_is_as_new() -> None:
    decoder = decoder_of()
    speaker = speaker_of(decoder).say([torn(1, 2)] * 7)
    decoder.free(speaker.stream)
    finals = speaker_of(decoder).say([ONE, QUIET]).flush().finals
    assert [each.text for each in finals] == ["一"]


def test_a_memory_can_be_carried_elsewhere() -> None:
    decoder = decoder_of(2)
    first, other = speaker_of(decoder, chunk=1), speaker_of(decoder, chunk=1, slot=1)
    memory = pickle.loads(pickle.dumps(decoder.memory_of(first.say([frame(1, 4)]).stream)))
    decoder.recall(other.stream, memory)
    [final] = other.say([ONE, ONE, ONE, TWO]).flush().finals
    assert (final.text, final.frames) == ("二", (3,))


def test_marks_that_begin_an_utterance_are_not_counted_as_stable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoder = decoder_of()
    speaker = speaker_of(decoder, chunk=5).say([ONE, TWO, QUIET, THREE, QUIET])
    monkeypatch.setattr(decoder._spelling.marks, "ids", frozenset({0}))
    best = best_of(speaker)
    assert (best.hypothesis.text, best.stable_words) == ("二三", 0)


units = st.builds(frame, st.integers(0, EOU), st.sampled_from(DURATIONS))
quiet = st.builds(frame, st.just(BLANK), st.sampled_from(DURATIONS))
unsure = st.builds(
    torn, st.integers(0, BLANK), st.integers(0, BLANK), st.sampled_from([0.3, 1.0, 3.0])
)


def scripts_of(some: st.SearchStrategy[list[float]]) -> st.SearchStrategy[Script]:
    stretches = st.builds(lambda each, count: [each] * count, some, st.sampled_from([1, 1, 2, 5]))
    return st.lists(stretches, min_size=1, max_size=8).map(lambda found: list(chain(*found)))


def told(finals: list[Told]) -> list[tuple[object, ...]]:
    return [(each.cause, each.text, each.frames, each.ends, each.stop) for each in finals]


@given(scripts_of(st.one_of(units, quiet)), st.integers(1, 30))
def test_where_nothing_is_unsure_the_finals_are_those_of_greedy_decoding(
    script: Script, chunk: int
) -> None:
    loop = label_loop_of(scripted_transducer(), 1)
    greedy = speaker_of(TransducerDecoder(loop, ScriptTokenizer(), 1), chunk=chunk)
    wanted = told(greedy.say(script).flush().finals)
    assert told(speaker_of(decoder_of(width=1), chunk=chunk).say(script).flush().finals) == wanted


def final_after(speaker: Speaker) -> tuple[list[Best], list[Told]]:
    """The partials of each step, and the finals that came in it."""
    partials, before = [], len(speaker.finals)
    while len(speaker.finals) == before and speaker.stream.next_cut() is not None:
        step([speaker])
        if len(speaker.finals) == before:
            partials.append(best_of(speaker))
    if len(speaker.finals) == before:
        speaker.flush()
    return partials, speaker.finals[before:]


@given(scripts_of(st.one_of(unsure, units, quiet)), st.integers(1, 8), st.integers(1, 6))
def test_stable_words_stay_until_the_final(script: Script, chunk: int, width: int) -> None:
    speaker = speaker_of(decoder_of(width=width), chunk=chunk)
    speaker.hear(script)
    while speaker.stream.next_cut() is not None:
        partials, finals = final_after(speaker)
        stable = [best.hypothesis.text[: best.stable_words] for best in partials]
        for earlier, later in pairwise([*stable, finals[0].text]):
            assert later.startswith(earlier)


@given(scripts_of(st.one_of(unsure, units, quiet)), st.integers(1, 8))
def test_a_boosted_word_of_a_partial_is_in_the_final(script: Script, chunk: int) -> None:
    speaker = speaker_of(decoder_of(), chunk=chunk)
    boosted(speaker, Boost("二", 0.7), Boost("三一", 0.5))
    speaker.hear(script)
    while speaker.stream.next_cut() is not None:
        partials, finals = final_after(speaker)
        for best in partials:
            words = best.hypothesis.words
            last = max((at + 1 for at, word in enumerate(words) if word.boosted), default=0)
            if finals[0].cause != "max_utterance":
                assert finals[0].text.startswith(best.hypothesis.text[:last])


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_step_that_fails_half_way_is_done_once(
    monkeypatch: pytest.MonkeyPatch, at: int, after: bool
) -> None:
    script = [torn(0, 1), *[QUIET] * 3, torn(1, 2), THREE, QUIET, *[FOUR] * 5]
    wanted = told(speaker_of(decoder_of(), chunk=3).say(script).flush().finals)
    break_once(monkeypatch, BeamDecoder, "_take", at, after=after)
    assert told(speaker_of(decoder_of(), chunk=3).say(script).flush().finals) == wanted


def test_streams_side_by_side_find_what_each_finds_alone() -> None:
    scripts = [[torn(at % 4, (at + 1) % 5)] * (2 + at) + [QUIET] * 4 for at in range(5)]
    alone = [told(speaker_of(decoder_of(), chunk=3).say(each).flush().finals) for each in scripts]
    decoder = decoder_of(5)
    speakers = [speaker_of(decoder, chunk=3, slot=slot) for slot in range(5)]
    for speaker, script in zip(speakers, scripts, strict=True):
        speaker.hear(script)
    while moving := [each for each in speakers if each.stream.next_cut() is not None]:
        step(moving)
    for speaker, wanted in zip(speakers, alone, strict=True):
        assert told(speaker.flush().finals) == wanted
