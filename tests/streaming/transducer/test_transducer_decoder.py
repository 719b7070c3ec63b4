"""Streams by a transducer's labels: endpoints cut what is said, and nothing of the walk."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import pytest
import torch
from break_once import break_once
from hypothesis import given
from hypothesis import strategies as st
from network_head import NetworkHead
from oracles import Found, frame_looping
from scripted_transducer import (
    BLANK,
    DURATIONS,
    ECHO,
    QUIET,
    SIZE,
    SURE,
    UNITS,
    ScriptTokenizer,
    frame,
    frames_of,
    scripted_transducer,
)
from speaker import ENDLESS, QUICK, Script, Speaker, Told, step
from torch import Tensor

from earshot.decoder_kernels.transducer.label_loop import LabelLoop
from earshot.streaming.events import UnboostablePhrase
from earshot.streaming.results.hypothesis import Best
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder

EOU = UNITS.index("<EOU>")
ONE, TWO, THREE, FOUR = map(frame, range(4))


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """As the engine's thread is."""
    with torch.inference_mode():
        yield


def decoder_of(slots: int = 1, max_symbols: int = 1) -> TransducerDecoder:
    loop = label_loop_of(scripted_transducer(max_symbols), slots, boost_capacity=100)
    return TransducerDecoder(loop, ScriptTokenizer(), slots)


def speaker_of(decoder: TransducerDecoder, **options: Any) -> Speaker:
    return Speaker(decoder, SIZE, **options)


def heard(script: Script, chunk: int = 8, max_symbols: int = 1) -> list[Told]:
    return speaker_of(decoder_of(1, max_symbols), chunk=chunk).say(script).flush().finals


def texts(finals: list[Told]) -> list[tuple[str, str]]:
    return [(each.cause, each.text) for each in finals]


def expected_of(script: Script, max_symbols: int = 1) -> Found:
    """What the plain loop finds without any endpoint."""
    head = scripted_transducer(max_symbols)
    return frame_looping(NetworkHead(head), head.hear(frames_of(script)), max_symbols)[0]


def assert_all_is_found(finals: list[Told], expected: Found) -> None:
    """No label is lost, none is told twice, each is where and what it is without endpoints."""
    frames = [at for each in finals for at in each.frames]
    ends = [end for each in finals for end in each.ends]
    silent = [at for at, token in zip(expected.frames, expected.tokens, strict=True) if token < EOU]
    spoken = "".join(UNITS[token] for token in expected.tokens if token < EOU)
    assert "".join(each.text for each in finals) == spoken
    assert frames == expected.frames
    assert set(silent) <= set(frames)
    stops = [each.stop for each in finals for _ in each.frames]
    lasting = zip(expected.frames, expected.durations, stops, strict=True)
    assert ends == [min(at + duration, stop) for at, duration, stop in lasting]
    log_probs = [value for each in finals for value in each.log_probs]
    assert log_probs == pytest.approx(expected.log_probs, abs=1e-5)


def test_labels_behind_an_endpoint_are_the_next_segments() -> None:
    script = [ONE, QUIET, QUIET, QUIET, TWO, THREE, QUIET, QUIET]
    first, second = heard(script)
    assert (first.cause, first.text, first.frames) == ("endpoint", "一", (0,))
    assert (second.cause, second.text, second.frames) == ("finalize", "二三", (4, 5))


def test_a_rest_may_hold_endpoints_of_its_own() -> None:
    script = [ONE, *[QUIET] * 3, TWO, *[QUIET] * 3, THREE, *[QUIET] * 3, FOUR]
    finals = heard(script, chunk=20)
    assert [each.text for each in finals] == ["一", "二", "三", "四"]
    assert [each.frames for each in finals] == [(0,), (4,), (8,), (12,)]


def test_an_utterance_that_grows_too_long_is_cut_between_words() -> None:
    script = [ONE] * 14 + [QUIET, QUIET] + [TWO] * 6
    first, second = heard(script, chunk=5)
    assert (first.cause, first.text) == ("max_utterance", "一" * 14)
    assert (second.cause, second.text) == ("finalize", "二" * 6)
    assert second.frames == tuple(range(16, 22))


def test_the_end_of_a_turn_ends_a_segment_at_once() -> None:
    script = [ONE, frame(EOU), TWO, QUIET]
    assert texts(heard(script)) == [("endpoint", "一"), ("finalize", "二")]


def test_the_end_of_a_turn_ends_nothing_where_no_pause_does() -> None:
    script = [ONE, frame(EOU), TWO, QUIET]
    speaker = speaker_of(decoder_of(), config=ENDLESS).say(script).flush()
    assert texts(speaker.finals) == [("finalize", "一二")]


def test_after_an_endpoint_the_last_label_is_remembered() -> None:
    script = [TWO, *[QUIET] * 3, ECHO]
    assert [each.text for each in heard(script)] == ["二", "二"]
    assert [each.text for each in heard(script, chunk=4)] == ["二", "二"]


def test_after_a_flush_nothing_was_said() -> None:
    speaker = speaker_of(decoder_of()).say([TWO, QUIET, frame(2, 4)]).flush()
    speaker.say([ECHO, QUIET, ECHO]).flush()
    assert texts(speaker.finals) == [("finalize", "二三"), ("finalize", "一一")]
    assert speaker.finals[-1].frames == (3, 5)


def test_a_slot_that_is_freed_is_as_new() -> None:
    decoder = decoder_of()
    speaker = speaker_of(decoder).say([TWO] * 7 + [frame(1, 4)])
    decoder.free(speaker.stream)
    finals = speaker_of(decoder).say([ECHO, QUIET]).flush().finals
    assert texts(finals) == [("finalize", "一")]


def test_a_duration_skips_frames_behind_an_endpoint_too() -> None:
    script = [ONE, frame(EOU, 4), TWO, TWO, TWO, THREE]
    for chunk in (1, 2, 3, 8):
        assert [each.frames for each in heard(script, chunk)] == [(0, 1), (5,)]


def test_a_blank_that_skips_frames_counts_as_silence_in_each() -> None:
    script = [ONE, frame(BLANK, 4), *[TWO] * 3, THREE]
    for chunk in (1, 2, 3, 8):
        assert [each.text for each in heard(script, chunk)] == ["一", "三"]


def test_all_but_the_last_word_of_a_partial_are_stable() -> None:
    speaker = speaker_of(decoder_of()).say([ONE, TWO, QUIET, THREE, *[QUIET] * 2, FOUR, QUIET])
    [best] = speaker.decoder.best([speaker.stream])
    assert (best.hypothesis.text, best.stable_words) == ("一二三四", 3)
    [only] = speaker.decoder.nbest(speaker.stream, ended=False)
    assert only == best.hypothesis


def best_of(speaker: Speaker) -> Best:
    [best] = speaker.decoder.best([speaker.stream])
    return best


def test_words_are_spelled_once_until_a_label_comes() -> None:
    speaker = speaker_of(decoder_of(), chunk=2).say([ONE, TWO])
    first = best_of(speaker)
    assert best_of(speaker.say([QUIET, QUIET])) is first
    assert best_of(speaker.say([THREE, QUIET])).hypothesis.text == "一二三"


def test_the_next_segment_is_spelled_anew_though_it_says_the_same() -> None:
    speaker = speaker_of(decoder_of(), chunk=1).say([ONE])
    first = best_of(speaker)
    again = best_of(speaker.say([*[QUIET] * 3, QUIET, ONE]))
    assert [each.hypothesis.text for each in (first, again)] == ["一", "一"]
    assert first.hypothesis.frames != again.hypothesis.frames


def test_the_next_stream_of_a_slot_is_told_nothing_of_the_last_one() -> None:
    decoder = decoder_of()
    best_of(speaker_of(decoder, chunk=1).say([ONE]))
    assert best_of(speaker_of(decoder, chunk=1).say([QUIET])).hypothesis.text == ""


def test_the_blank_threshold_is_the_streams_own() -> None:
    unsure = frame(BLANK, sure=3.0)  # two of three
    script = [ONE, *[unsure] * 4, TWO]
    lenient = StreamConfig(endpoint=EndpointConfig(silence_ms=300, blank_threshold=0.6))
    assert len(heard(script)) == 1
    assert len(speaker_of(decoder_of(), config=lenient).say(script).flush().finals) == 2


BOTH = [SURE, SURE - 1.0, *[0.0] * (SIZE - 2)]
"""A frame of the first unit that is the second's for one nat more."""


def boosted(speaker: Speaker, *boosts: Boost) -> tuple[str, ...]:
    """Configure the stream; return the phrases that go without."""
    compiled = speaker.decoder.compile("transducer", boosts, QUICK)
    told = speaker.decoder.configure(speaker.stream, QUICK, "transducer", compiled)
    return tuple(each.phrase for each in told if isinstance(each, UnboostablePhrase))


def test_boosts_count_from_the_next_chunk_on() -> None:
    speaker = speaker_of(decoder_of(), chunk=2).say([BOTH] * 2)
    assert boosted(speaker, Boost("二", 2.0)) == ()
    [final] = speaker.say([BOTH] * 2).flush().finals
    assert final.text == "一一二二"


def test_a_boosted_word_of_a_partial_is_marked() -> None:
    speaker = speaker_of(decoder_of(), chunk=2)
    boosted(speaker, Boost("二", 2.0))
    [best] = speaker.say([BOTH, QUIET, THREE, QUIET]).decoder.best([speaker.stream])
    assert [(word.text, word.boosted) for word in best.hypothesis.words] == [
        ("二", True),
        ("三", False),
    ]


def test_a_phrase_goes_on_behind_an_endpoint_and_a_flush_ends_it() -> None:
    pending = Boost("三二", 0.6)
    speaker = speaker_of(decoder_of())
    boosted(speaker, pending)
    finals = speaker.say([THREE, *[QUIET] * 3, BOTH]).flush().say([BOTH]).flush().finals
    assert [each.text for each in finals] == ["三", "二", "一"]


def test_boosts_that_do_not_fit_are_told_and_the_stream_goes_on() -> None:
    speaker = speaker_of(decoder_of())
    assert boosted(speaker, Boost("一二三四" * 30, 2.0)) == ("一二三四" * 30,)
    [final] = speaker.say([BOTH] * 2).flush().finals
    assert final.text == "一一"


def test_a_configuration_with_the_same_boosts_interrupts_no_phrase() -> None:
    speaker = speaker_of(decoder_of())
    boosted(speaker, Boost("三二", 0.6))
    boosted(speaker.say([THREE] * 8), Boost("三二", 0.6))
    [final] = speaker.say([BOTH]).flush().finals
    assert final.text == "三" * 8 + "二"


def test_other_boosts_end_a_phrase_that_is_under_way_in_a_rest() -> None:
    """A rest was walked over with the boosts that were: their states are not those of others."""
    speaker = speaker_of(decoder_of(), chunk=5)
    boosted(speaker, Boost("三一", 0.6))
    speaker.hear([THREE, *[QUIET] * 3, THREE])
    step([speaker])
    assert speaker.stream.rest is not None
    boosted(speaker, Boost("四二", 0.6))
    [_, final] = speaker.say([BOTH] * 5).flush().finals
    assert final.text == "三" + "一" * 5


def test_a_memory_of_other_boosts_is_of_no_phrase() -> None:
    decoder = decoder_of(2)
    first, other = speaker_of(decoder, chunk=1), speaker_of(decoder, chunk=1, slot=1)
    boosted(first, Boost("三一", 0.6))
    boosted(other, Boost("四二", 0.6))
    decoder.recall(other.stream, decoder.memory_of(first.say([THREE]).stream))
    [final] = other.say([BOTH]).flush().finals
    assert final.text == "一"


def test_a_memory_goes_on_with_its_phrase_where_boosts_are_the_same() -> None:
    decoder = decoder_of(2)
    first, other = speaker_of(decoder, chunk=1), speaker_of(decoder, chunk=1, slot=1)
    for each in (first, other):
        boosted(each, Boost("三二", 0.6))
    memory = pickle.loads(pickle.dumps(decoder.memory_of(first.say([THREE]).stream)))
    decoder.recall(other.stream, memory)
    [final] = other.say([BOTH]).flush().finals
    assert final.text == "二"


def test_the_next_stream_of_a_slot_has_no_boosts() -> None:
    decoder = decoder_of()
    speaker = speaker_of(decoder)
    boosted(speaker, Boost("二", 2.0))
    decoder.free(speaker.stream)
    assert texts(speaker_of(decoder).say([BOTH]).flush().finals) == [("finalize", "一")]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many frames each walk was asked for."""
    counts: list[int] = []
    whole = LabelLoop.__call__

    def counted(self: LabelLoop, chunks: Sequence[Tensor], *of_lanes: Any) -> object:
        counts.append(sum(map(len, chunks)))
        return whole(self, chunks, *of_lanes)

    monkeypatch.setattr(LabelLoop, "__call__", counted)
    return counts


LONG = [
    *[ONE, QUIET, frame(1, 2), ECHO, *[QUIET] * 4, ECHO, frame(EOU), THREE, frame(2, 4)],
    *[frame(0, 2)] * 19,
    *[ECHO, QUIET, frame(3, 4), QUIET, TWO, QUIET, QUIET] * 4,
    *[QUIET] * 13,
    *[TWO, ECHO],
]


@pytest.mark.parametrize("chunk", [1, 3, 8, 100])
def test_no_frame_is_walked_over_twice(asked: list[int], chunk: int) -> None:
    causes = {each.cause for each in heard(LONG, chunk)}
    assert causes == {"endpoint", "max_utterance", "finalize"}
    assert sum(asked) == len(LONG)


units = st.one_of(
    st.builds(frame, st.integers(0, EOU), st.sampled_from(DURATIONS)),
    st.builds(frame, st.just(BLANK), st.sampled_from(DURATIONS)),
    st.just(ECHO),
)
stretches = st.builds(lambda each, count: [each] * count, units, st.sampled_from([1, 1, 2, 5, 12]))
scripts = st.lists(stretches, min_size=1, max_size=10).map(lambda found: list(chain(*found)))


@given(scripts, st.integers(1, 30), st.integers(1, 3))
def test_endpoints_lose_no_label_and_change_none(
    script: Script, chunk: int, max_symbols: int
) -> None:
    finals = heard(script, chunk, max_symbols)
    assert_all_is_found(finals, expected_of(script, max_symbols))


@given(scripts, st.integers(1, 30))
def test_segments_end_where_they_do_frame_by_frame(script: Script, chunk: int) -> None:
    assert [each for each in heard(script, chunk) if each.frames] == [
        each for each in heard(script, 1) if each.frames
    ]


OTHER = [TWO, TWO, frame(EOU), *[QUIET] * 3, frame(3, 4), ECHO] * 9


def both(decoder: TransducerDecoder) -> list[list[Told]]:
    """What two streams tell that share their steps."""
    speakers = [speaker_of(decoder, slot=slot) for slot in range(2)]
    for speaker, script in zip(speakers, (LONG, OTHER), strict=True):
        speaker.hear(script)
    while ready := [each for each in speakers if each.stream.next_cut() is not None]:
        step(ready)
    return [each.flush().finals for each in speakers]


def test_streams_in_company_tell_what_they_do_alone() -> None:
    assert both(decoder_of(2)) == [heard(LONG), heard(OTHER)]


@pytest.mark.parametrize("after", [False, True], ids=["before the work", "after it"])
@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        *[(LabelLoop, "__call__", at) for at in (1, 2, 7)],
        *[(Lane, "observe", at) for at in (1, 2, 3, 8, 20)],
        *[(TransducerDecoder, "_take", at) for at in (1, 2, 3, 8, 20)],
        *[(TransducerDecoder, "decode", at) for at in (1, 2, 8)],
        *[(TransducerDecoder, "nbest", at) for at in range(1, 12)],
        *[(TransducerDecoder, "boundary", at) for at in (1, 2)],
        *[(TransducerDecoder, "rest", at) for at in range(1, 12)],
        (TransducerDecoder, "truncate", 1),
        *[(TransducerDecoder, "restart", at) for at in (1, 2, 9)],
    ],
)
def test_a_failure_half_way_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, at: int, after: bool
) -> None:
    expected = [heard(LONG), heard(OTHER)]
    calls = break_once(monkeypatch, owner, name, at, after=after)
    assert both(decoder_of(2)) == expected
    assert len(calls) >= at


def test_what_was_said_is_not_shared_by_new_streams() -> None:
    decoder = decoder_of(2)
    speaker_of(decoder, slot=0).say([TWO] * 8)
    finals = speaker_of(decoder, slot=1).say([ECHO] * 8).flush().finals
    assert texts(finals) == [("finalize", "一" * 8)]
