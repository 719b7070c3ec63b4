"""Stretches of labels: cut, joined, and what they tell the endpoint rules."""

import math

from hypothesis import given
from hypothesis import strategies as st

from earshot.decoder_kernels.transducer.label_loop import NO_BLANK
from earshot.streaming.transducer.transcript import NOTHING_FOUND, Transcript

LOG_PROBS = st.floats(-9, 0)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Some frames, each with its own blank; some labels, each in one of them."""
    blanks = draw(st.lists(LOG_PROBS | st.just(NO_BLANK), max_size=8))
    places = st.lists(st.integers(0, len(blanks) - 1), max_size=8)
    frames = sorted(draw(places)) if blanks else []
    labels = [
        (draw(st.integers(0, 9)), frame, frame + draw(st.integers(0, 5)), draw(LOG_PROBS))
        for frame in frames
    ]
    columns = zip(*labels, strict=True) if labels else [()] * 4
    return Transcript(*(tuple(each) for each in columns), tuple(blanks))


@st.composite
def cut_transcripts(draw: st.DrawFn) -> tuple[Transcript, int]:
    """One, and a place within it."""
    transcript = draw(transcripts())
    return transcript, draw(st.integers(0, transcript.length))


@given(cut_transcripts())
def test_a_cut_loses_nothing(cut: tuple[Transcript, int]) -> None:
    transcript, frame = cut
    assert transcript.until(frame).then(transcript.since(frame)) == transcript


@given(cut_transcripts())
def test_a_cut_has_each_sides_labels_and_frames(cut: tuple[Transcript, int]) -> None:
    transcript, frame = cut
    before, after = transcript.until(frame), transcript.since(frame)
    assert (before.length, after.length) == (frame, transcript.length - frame)
    assert all(each < frame for each in before.frames)
    assert all(0 <= each < after.length for each in after.frames)


def test_a_label_that_lasts_over_the_cut_keeps_its_end() -> None:
    lasting = Transcript((5,), (1,), (4,), (-0.5,), (NO_BLANK,) * 4)
    assert lasting.until(2).ends == (4,)
    assert lasting.until(2).then(NOTHING_FOUND).since(1).ends == (3,)


@given(transcripts(), transcripts())
def test_what_was_joined_comes_apart_again(first: Transcript, second: Transcript) -> None:
    joined = first.then(second)
    assert joined.length == first.length + second.length
    assert (joined.until(first.length), joined.since(first.length)) == (first, second)


@given(transcripts(), transcripts(), transcripts())
def test_joining_is_associative(one: Transcript, two: Transcript, three: Transcript) -> None:
    assert one.then(two).then(three) == one.then(two.then(three))


@given(transcripts())
def test_nothing_adds_nothing(transcript: Transcript) -> None:
    assert NOTHING_FOUND.then(transcript) == transcript.then(NOTHING_FOUND) == transcript


def test_the_score_is_the_labels_log_probability() -> None:
    both = Transcript((1, 2), (0, 1), (1, 2), (-0.5, -0.25), (-3.0, -2.0))
    assert both.score == -0.75


def test_silent_is_a_frame_whose_blank_is_above_the_threshold() -> None:
    blanks = tuple(map(math.log, (0.81, 0.79, 1.0)))
    evidence = Transcript(blank_log_probs=blanks).evidence(0.8)
    assert evidence.silent == [True, False, True]
    assert evidence.spoken == evidence.turn_ended == [False] * 3


def test_spoken_is_a_frame_that_holds_a_label_and_none_that_it_lasts_over() -> None:
    lasting = Transcript((5,), (1,), (4,), (-0.5,), (0.0, NO_BLANK, NO_BLANK, NO_BLANK, 0.0))
    evidence = lasting.evidence(0.8, {9})
    assert evidence.spoken == [False, True, False, False, False]
    assert evidence.silent == [True, False, False, False, True]
    assert evidence.turn_ended == [False] * 5


def test_the_end_of_a_turn_is_not_spoken() -> None:
    labels = Transcript((5, 9), (0, 1), (1, 2), (-0.5, -0.5), (0.0, 0.0, 0.0))
    evidence = labels.evidence(0.8, {9})
    assert evidence.spoken == [True, False, False]
    assert evidence.turn_ended == [False, True, False]


def test_a_frame_may_hold_words_and_the_end_of_a_turn() -> None:
    for tokens in ((5, 9), (9, 5)):
        evidence = Transcript(tokens, (0, 0), (1, 1), (-0.5, -0.5), (0.0,)).evidence(0.8, {9})
        assert (evidence.spoken, evidence.turn_ended) == ([True], [True])


def test_marks_and_signs_are_not_spoken() -> None:
    labels = Transcript((5, 7), (0, 1), (1, 2), (-0.5, -0.5), (NO_BLANK, NO_BLANK))
    assert labels.evidence(0.8, (), {7}).spoken == [True, False]
