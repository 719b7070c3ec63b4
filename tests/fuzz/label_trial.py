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

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.errors import KernelError
from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.transducer.label_loop import LabelLoop, LoopMemory, WalkedChunk

LENGTHS = (0, 1, 1, 2, 3, 5, 12)
THREADS = (1, 1, 1, 4)
MOST_KEPT = 4
CLOSE = 1e-4


@dataclass(frozen=True)
class Point:
    """A stream between two chunks, here and there, and the boosts of the chunk before."""

    memory: LoopMemory
    remembered: Remembered
    table: BoostTable | None = None

    def remembered_with(self, table: BoostTable | None) -> Remembered:
        """With other boosts no phrase is under way."""
        return self.remembered if _same(self.table, table) else self.remembered.unboosted


@dataclass
class Stream:
    """What is in a slot now, and points that it may be set back to."""

    slot: int
    now: Point
    table: BoostTable | None = None
    boosts: BoostWalk = NO_BOOSTS
    kept: list[Point] = field(default_factory=list)

    def boost(self, table: BoostTable | None) -> None:
        """These phrases and no others."""
        self.table, self.boosts = table, BoostWalk(table) if table else NO_BOOSTS


def _same(one: BoostTable | None, other: BoostTable | None) -> bool:
    if one is None or other is None:
        return one is other
    pairs = (one.links, other.links), (one.bonuses, other.bonuses)
    return all(torch.equal(*pair) for pair in pairs)


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
        return Point(self._loop.begin(), self._oracle.begin())

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
        table = stream.table if boosted else None
        there = stream.now.remembered_with(table)
        found = self._oracle.walk(numbers, there, stream.boosts if boosted else NO_BOOSTS)
        assert (found is None) == (walked is None), "another lane is not finite"
        if found is None or walked is None:
            return False
        assert_same(walked, found)
        stream.now = Point(walked.after, found.after, table)
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
        stream.now = self._new()
        return Outcome("reset")

    def _boost(self) -> Outcome:
        """Other boosts, mid-phrase or not, or none; none too where they are refused."""
        stream, blank, table = self._one(), self._table.blank, None
        stream.boost(None)
        try:
            if self._dice.random() < 0.8:
                table = hostile_inputs.token_table(self._dice, blank + 1, blank)
            self._loop.set_boost(stream.slot, table)
        except KernelError as error:
            self._loop.set_boost(stream.slot, None)
            return Outcome("boost", 1, 1, type(error).__name__)
        stream.boost(table)
        return Outcome("boost")

    def _keep(self) -> Outcome:
        """A point to come back to."""
        stream = self._one()
        stream.kept = [*stream.kept, stream.now][-MOST_KEPT:]
        return Outcome("keep")

    def _set_back(self) -> Outcome:
        """Go on from a point before, with the boosts of now."""
        stream = self._one()
        if stream.kept:
            stream.now = self._dice.choice(stream.kept)
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
