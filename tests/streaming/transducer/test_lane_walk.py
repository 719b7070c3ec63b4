"""The rules of one lane's walk: those of the papers' plain loop, in whatever pieces frames come."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles import TableHead, frame_looping
from torch import Tensor

from earshot.streaming.transducer.lane_walk import Choice, LaneWalk
from earshot.streaming.transducer.transcript import NO_BLANK, NOTHING_FOUND, Transcript

BLANK = 3
RNNT: tuple[int, ...] = ()

labels = st.integers(0, BLANK)
numbers = st.integers(0, 7)
tables = st.dictionaries(st.tuples(labels, numbers), st.tuples(labels, st.integers(0, 2)))
kinds = st.sampled_from([RNNT, (0, 1, 4), (2, 0, 3), (1, 2, 9)])
pieces = st.lists(st.integers(0, 4), max_size=8)
caps = st.integers(1, 4)

Table = dict[tuple[int, int], tuple[int, int]]


def head_of(table: Table, durations: Sequence[int]) -> TableHead:
    """Says a label and the number of a duration; blank and the first one where the table is empty.

    How sure it is depends on what was said last, and on the frame.
    """

    def rows(last: int, frame: int) -> tuple[Tensor, Tensor]:
        label, duration = table.get((last, frame), (BLANK, 0))
        sure = 1.0 + last + frame / 8
        return sure * one_hot(BLANK + 1, label), one_hot(len(durations), duration)

    return TableHead(BLANK, durations, rows)


def one_hot(size: int, place: int) -> Tensor:
    return (torch.arange(size) == place).float()


def frames_of(count: int) -> Tensor:
    return torch.arange(count).remainder(8).unsqueeze(1)


@dataclass
class Walker:
    """Asks a head for a lane, chunk after chunk."""

    head: TableHead
    cap: int
    last: int = BLANK
    ahead: int = 0
    skipped_blank: float = NO_BLANK
    asked: int = 0

    def over(self, chunk: Tensor) -> Transcript:
        walk = LaneWalk(len(chunk), self.cap, self.ahead, self.skipped_blank)
        while not walk.ended:
            choice = self.choose(chunk[walk.frame])
            self.last = self.last if choice.token is None else choice.token
            walk.take(choice)
        self.ahead, self.skipped_blank = walk.frame - walk.length, walk.skipped_blank
        return walk.transcript

    def over_all(self, chunks: Sequence[Tensor]) -> Transcript:
        found = NOTHING_FOUND
        for chunk in chunks:
            found = found.then(self.over(chunk))
        return found

    def choose(self, frame: Tensor) -> Choice:
        logits, steps = self.head.outputs(frame, torch.tensor(self.last))
        best = int(logits.argmax())
        duration = self.head.durations[int(steps.argmax())] if self.head.durations else None
        log_prob = float(logits.log_softmax(-1)[best])
        self.asked += 1
        return Choice(None if best == BLANK else best, log_prob, duration)


def found_in(head: TableHead, frames: int, cap: int = 10) -> Transcript:
    return Walker(head, cap).over(frames_of(frames))


@given(tables, kinds, pieces, caps)
def test_a_walk_in_pieces_finds_what_the_papers_loop_does(
    table: Table, durations: Sequence[int], cuts: list[int], cap: int
) -> None:
    head, frames = head_of(table, durations), frames_of(sum(cuts))
    expected, after = frame_looping(head, frames, cap)
    walker = Walker(head, cap)
    found = walker.over_all(frames.split(cuts))
    lasting = expected.durations or [1] * len(expected.tokens)
    assert list(found.tokens) == expected.tokens
    assert list(found.frames) == expected.frames
    assert [end - at for end, at in zip(found.ends, found.frames, strict=True)] == lasting
    assert list(found.token_log_probs) == expected.log_probs
    assert (found.length, walker.ahead) == (len(frames), after.ahead)


@given(tables, kinds, pieces, caps)
def test_blanks_are_the_same_however_frames_are_cut(
    table: Table, durations: Sequence[int], cuts: list[int], cap: int
) -> None:
    head, frames = head_of(table, durations), frames_of(sum(cuts))
    assert Walker(head, cap).over_all(frames.split(cuts)) == Walker(head, cap).over(frames)


@given(tables, kinds, st.integers(0, 20), caps)
def test_a_frame_that_a_label_passes_has_no_blank_and_every_other_one(
    table: Table, durations: Sequence[int], frames: int, cap: int
) -> None:
    found = found_in(head_of(table, durations), frames, cap)
    passed = set()
    for frame, end in zip(found.frames, found.ends, strict=True):
        passed |= set(range(frame, end)) if durations else set()
        if found.frames.count(frame) == cap:
            passed.add(frame)
    without = {at for at, value in enumerate(found.blank_log_probs) if value == NO_BLANK}
    assert without == passed & set(range(frames))


def log_prob_of(last: int, frame: int) -> float:
    """The blank's where `head_of` finds it the best."""
    labels, _ = head_of({(last, frame): (BLANK, 0)}, RNNT).table(last, frame)
    return float(labels.log_softmax(-1)[BLANK])


def test_a_blank_counts_for_all_frames_that_it_passes() -> None:
    head = head_of({(BLANK, 1): (BLANK, 1), (BLANK, 4): (1, 1), (1, 7): (BLANK, 1)}, (0, 3))
    first, second = log_prob_of(BLANK, 0), log_prob_of(BLANK, 1)
    expected = [first, *[second] * 3, *[NO_BLANK] * 3, log_prob_of(1, 7)]
    assert found_in(head, 8).blank_log_probs == pytest.approx(expected)


@pytest.mark.parametrize("label", [1, BLANK])
def test_what_passes_a_chunks_end_passes_the_next_ones_frames(label: int) -> None:
    walker = Walker(head_of({(BLANK, 1): (label, 1)}, (0, 7)), 10)
    found = walker.over_all(frames_of(9).split([2, 3, 4]))
    passing = NO_BLANK if label != BLANK else log_prob_of(BLANK, 1)
    expected = [log_prob_of(BLANK, 0), *[passing] * 7, log_prob_of(label, 0)]
    assert list(found.blank_log_probs) == expected
    assert walker.asked == 3  # nobody is asked about a frame that is passed


def test_an_rnnts_frame_is_passed_by_the_blank_after_its_labels() -> None:
    found = found_in(head_of({(BLANK, 1): (0, 0), (0, 1): (2, 0)}, RNNT), 3)
    expected = [log_prob_of(BLANK, 0), log_prob_of(2, 1), log_prob_of(2, 2)]
    assert (found.tokens, found.frames, found.ends) == ((0, 2), (1, 1), (2, 2))
    assert list(found.blank_log_probs) == expected


def test_labels_that_fill_a_frame_pass_it() -> None:
    found = found_in(head_of({(BLANK, 0): (0, 0), (0, 0): (0, 0)}, RNNT), 2, cap=2)
    assert found.frames == (0, 0)
    assert found.blank_log_probs == (NO_BLANK, log_prob_of(0, 1))


def test_a_new_frame_has_room_for_as_many_labels_again() -> None:
    table = {(BLANK, 0): (0, 1), (0, 1): (1, 0), (1, 1): (2, 0)}
    assert found_in(head_of(table, (0, 1)), 3, cap=2).frames == (0, 1, 1)


def test_a_walk_over_no_frames_is_over() -> None:
    walk = LaneWalk(0, 10, frame=3, skipped_blank=-0.5)
    assert walk.ended
    assert (walk.transcript, walk.skipped_blank) == (NOTHING_FOUND, -0.5)
