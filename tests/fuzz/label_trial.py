"""Streams of one label loop that come, go, boost and are set back, all compared with an oracle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

import hostile_inputs
import torch
from boost_walk import BoostWalk
from search_trial import LONG_CHUNK, Outcome
from table_oracle import (
    NO_BOOSTS,
    SPOILT,
    Found,
    Remembered,
    TableOracle,
    frames_of,
    random_table,
    weights_of,
)

from earshot.decoder_kernels.errors import KernelError
from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.transducer.label_loop import LabelLoop, LoopMemory, WalkedChunk

LENGTHS = (0, 1, 1, 2, 3, 5, 12)
THREADS = (1, 1, 1, 4)
MOST_KEPT = 4
CLOSE = 1e-4


@dataclass(frozen=True)
class Point:
    """A stream between two chunks, here and there, and the boosts it had."""

    memory: LoopMemory
    remembered: Remembered
    boosts: BoostWalk


@dataclass
class Stream:
    """What is in a slot now, and points that it may be set back to."""

    slot: int
    now: Point
    kept: list[Point] = field(default_factory=list)

    def go_on(self, memory: LoopMemory, remembered: Remembered) -> None:
        """A chunk was walked over."""
        self.now = Point(memory, remembered, self.now.boosts)

    def boost(self, boosts: BoostWalk) -> None:
        """No phrase is under way."""
        here, there = self.now.memory.unboosted, self.now.remembered.unboosted
        self.now = Point(here, there, boosts)


class LabelTrial:
    """Slots of a label loop over a table.

    Raises AssertionError where a stream's walk is not the oracle's.
    """

    def __init__(self, dice: Random) -> None:
        self._dice, self._table = dice, random_table(dice)
        slots, boosts = dice.choice((1, 2, 7, 13, 30)), dice.choice((0, 10, 100, 5_000))
        processor = dice.choice(kernels.processors())
        self._loop = LabelLoop(weights_of(self._table), slots, boosts, processor)
        self._oracle = TableOracle(self._table, self._loop)
        self._streams = [Stream(slot, self._new()) for slot in range(slots)]
        self._operations = {self._walk: 8, self._leave: 1, self._reset: 1, self._boost: 2}
        self._operations |= {self._keep: 2, self._set_back: 1}

    def step(self) -> Outcome:
        """Do something."""
        [operation] = self._dice.choices(list(self._operations), list(self._operations.values()))
        return operation()

    def _new(self) -> Point:
        return Point(self._loop.begin(), self._oracle.begin(), NO_BOOSTS)

    def _one(self) -> Stream:
        return self._dice.choice(self._streams)

    def _walk(self) -> Outcome:
        """A chunk for some of the streams, in any order."""
        lanes = self._dice.sample(self._streams, self._dice.randint(1, len(self._streams)))
        heard = [self._numbers() for _ in lanes]
        chunks = [frames_of(self._table, numbers) for numbers in heard]
        before = [stream.now.memory for stream in lanes]
        boosted = self._dice.random() < 0.95
        with _threads(self._dice.choice(THREADS)):
            slots = [stream.slot for stream in lanes] if boosted else None
            walked = self._loop(chunks, before, slots)
        ended = [
            self._compare(stream, numbers, found, boosted)
            for stream, numbers, found in zip(lanes, heard, walked, strict=True)
        ]
        refused = ended.count(False)
        return Outcome("walk", len(lanes), refused, "not finite" if refused else "")

    def _numbers(self) -> list[int]:
        dice = self._dice
        length = LONG_CHUNK if dice.random() < 0.02 else dice.choice(LENGTHS)
        numbers = [dice.randrange(self._table.numbers) for _ in range(length)]
        if numbers and dice.random() < 0.02:
            numbers[dice.randrange(length)] = SPOILT
        return numbers

    def _compare(
        self, stream: Stream, numbers: Sequence[int], walked: WalkedChunk | None, boosted: bool
    ) -> bool:
        """Whether the walk was finite; the stream goes on from there then."""
        boosts = stream.now.boosts if boosted else NO_BOOSTS
        there = stream.now.remembered if boosted else stream.now.remembered.unboosted
        found = self._oracle.walk(numbers, there, boosts)
        assert (found is None) == (walked is None), "another lane is not finite"
        if found is None or walked is None:
            return False
        assert_same(walked, found)
        stream.go_on(walked.after, found.after)
        return True

    def _leave(self) -> Outcome:
        """The slot's next stream has nothing of the last one."""
        stream = self._one()
        self._loop.set_boost(stream.slot, None)
        self._streams[stream.slot] = Stream(stream.slot, self._new())
        return Outcome("leave")

    def _reset(self) -> Outcome:
        """Nothing was said; boosts stay."""
        stream = self._one()
        stream.go_on(self._loop.begin(), self._oracle.begin())
        return Outcome("reset")

    def _boost(self) -> Outcome:
        """Other boosts, mid-phrase or not; none where they are refused."""
        stream = self._one()
        stream.boost(NO_BOOSTS)
        try:
            stream.boost(self._placed(stream.slot))
        except KernelError as error:
            self._loop.set_boost(stream.slot, None)
            return Outcome("boost", 1, 1, type(error).__name__)
        return Outcome("boost")

    def _placed(self, slot: int) -> BoostWalk:
        if self._dice.random() < 0.2:
            self._loop.set_boost(slot, None)
            return NO_BOOSTS
        blank = self._table.blank
        table = hostile_inputs.token_table(self._dice, blank + 1, blank)
        self._loop.set_boost(slot, table)
        return BoostWalk(table)

    def _keep(self) -> Outcome:
        """A point to come back to."""
        stream = self._one()
        stream.kept = [*stream.kept, stream.now][-MOST_KEPT:]
        return Outcome("keep")

    def _set_back(self) -> Outcome:
        """Go on from a point before, with the boosts of now."""
        stream = self._one()
        if stream.kept:
            boosts, stream.now = stream.now.boosts, self._dice.choice(stream.kept)
            if stream.now.boosts is not boosts:
                stream.boost(boosts)
        return Outcome("set back")


def assert_same(walked: WalkedChunk, found: Found) -> None:
    """Raises AssertionError where a walk is not the oracle's."""
    assert walked.tokens == found.tokens, "other labels"
    assert walked.frames == found.frames, "labels in other frames"
    assert walked.durations == found.durations, "other durations"
    assert walked.after.ahead == found.after.ahead, "another frame to go on with"
    assert walked.after.boost_state == found.after.boost_state, "another phrase under way"
    assert _close(walked.log_probs, found.log_probs), "labels are as likely as others"
    assert _close(walked.blank_log_probs, found.blank_log_probs), "blanks are as likely as others"


def _close(these: Sequence[float], those: Sequence[float]) -> bool:
    pairs = zip(these, those, strict=True)
    return all(math.isclose(each, other, rel_tol=CLOSE, abs_tol=CLOSE) for each, other in pairs)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """So many threads share the lanes of a call."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
