"""The n-best list of a slot, out of its word records (docs/decisions/0034-word-records.md)."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RECORD = np.dtype(
    [
        ("first", np.int32),
        ("other", np.int32),
        ("word", np.int32),
        ("depth", np.int32),
        ("value", np.int64),
    ]
)
"""As WfstRecord in ``csrc/wfst_state.h``."""

NO_RECORD = -1
MAX_STEPS = 200_000
"""Records that one list may visit; a list that would need more ends where it is."""

WordAndFrame = tuple[int, int]


@dataclass(frozen=True)
class Ranked:
    """One sequence of words, its cost in the search's unit, and the token that it ends in."""

    words: tuple[WordAndFrame, ...]
    cost: int
    token: int


@dataclass(frozen=True)
class Suffix:
    """Words of which the last stands first: what follows them is shared."""

    word: int
    frame: int
    rest: "Suffix | None"
    number: int  # the same for the same words

    def unrolled(self) -> Iterator[WordAndFrame]:
        """The words in their order."""
        one: Suffix | None = self
        while one is not None:
            yield one.word, one.frame
            one = one.rest


class RecordWalk:
    """Best-first search from tokens back to the beginning: cost plus all extra costs met.

    Extra costs are never negative, so sequences come out in the order of their costs. Of equal
    costs the newest comes first: a walk with many ties still gets to the end of one.
    """

    def __init__(self, records: npt.NDArray[np.void], histories: npt.NDArray[np.int32]) -> None:
        self._records = records
        self._histories = histories
        self._numbers: dict[tuple[int, int], int] = {}

    def ranked(self, costs: list[tuple[int, int]], limit: int) -> Iterator[Ranked]:
        """Distinct sequences from ``(cost, token)`` pairs, up to ``limit`` in cost."""
        heap: list[tuple[int, int, int, int, Suffix | None]] = []
        for cost, token in costs:
            heap.append((cost, len(heap), token, int(self._histories[token]), None))
        heapq.heapify(heap)
        made = 0
        seen: set[tuple[int, int]] = set()
        while heap and made < MAX_STEPS:
            cost, _, token, record, suffix = heapq.heappop(heap)
            place = (record, suffix.number if suffix else 0)
            if place in seen or cost > limit:
                continue
            seen.add(place)
            if record == NO_RECORD:
                words = tuple(suffix.unrolled()) if suffix else ()
                yield Ranked(words, cost, token)
                continue
            first, other, word, _, value = self._records[record].tolist()
            if word:
                suffix = Suffix(word, other, suffix, self._number(word, place[1]))
            elif cost + value <= limit:
                made += 1
                heapq.heappush(heap, (cost + value, -made, token, other, suffix))
            made += 1
            heapq.heappush(heap, (cost, -made, token, first, suffix))

    def _number(self, word: int, rest: int) -> int:
        return self._numbers.setdefault((word, rest), len(self._numbers) + 1)
