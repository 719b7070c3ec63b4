"""``csrc/results/ranked_list.h`` in plain Python."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt
from results_oracle.histories import (
    NO_BACKPOINTER,
    BackpointerColumns,
    Histories,
)

from earshot.decoder_kernels.graph.wfst_options import FRACTION_BITS

BACKPOINTER = np.dtype(
    [
        ("first", np.int32),
        ("other", np.int32),
        ("word", np.int32),
        ("depth", np.int32),
        ("value", np.int64),
    ]
)
"""As WfstBackpointer in ``csrc/wfst/wfst_search.h``."""

FIRST_WIDTH = 1 << (FRACTION_BITS - 2)
"""A quarter of a nat: how far from the best is looked at first; then twice as far, and so on."""

MAX_STEPS_PER_WIDTH = 1 << 20
"""A list that would take more for a width is an error, not a shorter list."""

WordAndFrame = tuple[int, int]


@dataclass(frozen=True)
class Ranked:
    """One sequence of words, and its cost in the search's unit."""

    words: tuple[WordAndFrame, ...]
    cost: int


@dataclass(frozen=True, slots=True)
class Trail:
    """Words of which the last stands first, as one path through the backpointers has them."""

    word: int
    frame: int
    rest: "Trail | None"

    def unrolled(self) -> Iterator[WordAndFrame]:
        """The words in their order."""
        one: Trail | None = self
        while one is not None:
            yield one.word, one.frame
            one = one.rest


PartialPath = tuple[int, int, Trail | None]
"""A cost, the backpointer that comes before, and the words after it."""


class BackpointerWalk:
    """Lists the distinct sequences of words that end in a slot's tokens, cheapest first."""

    def __init__(
        self, backpointers: npt.NDArray[np.void], histories: npt.NDArray[np.int32]
    ) -> None:
        self._backpointers = BackpointerColumns.of(backpointers)
        self._histories = histories

    def ranked(
        self, costs: list[tuple[int, int]], limit: int, max_steps: int = MAX_STEPS_PER_WIDTH
    ) -> Iterator[Ranked]:
        """Every sequence from ``(cost, token)`` pairs up to ``limit`` in cost, once.

        What is near the best is looked at first: the work grows with what is asked for. Of equal
        costs, the first is what the first of the cheapest tokens remembers as its best. Raises
        TooManyHistories where the next sequence is too far to be found.
        """
        ends = [(cost, int(self._histories[token])) for cost, token in costs]
        best = min(cost for cost, _ in ends)
        listed, width = best - 1, FIRST_WIDTH
        while listed < limit:
            bound = min(best + width, limit)
            histories = Histories(self._backpointers, ends, bound, max_steps)
            for ranked in _cheapest_first(histories, bound):
                if ranked.cost > listed:
                    yield ranked
            listed, width = bound if histories.cut else limit, 2 * width


def _cheapest_first(histories: Histories, limit: int) -> Iterator[Ranked]:
    """Sequences in the order of their costs, from the last word to the first.

    An entry stands for all paths that end in the same words. One of them goes on at no extra cost,
    and of equal costs the newest entry is taken first: so no more entries are taken between two
    sequences than the second has words.
    """
    heap: list[tuple[int, int, list[PartialPath]]] = []
    entries = 0
    paths: dict[int, PartialPath] = {name: (*tail, None) for name, tail in histories.root.items()}
    while True:
        for cost, group in reversed(_by_word(histories, paths)):
            entries += 1
            heappush(heap, (cost, -entries, group))
        while heap and heap[0][2][0][1] == NO_BACKPOINTER:
            cost, _, [(_, _, trail)] = heappop(heap)
            yield Ranked(tuple(trail.unrolled()) if trail else (), cost)
        if not heap:
            return
        paths = _before(histories, heappop(heap)[2], limit)


def _by_word(
    histories: Histories, paths: dict[int, PartialPath]
) -> list[tuple[int, list[PartialPath]]]:
    """The paths that have the same last word, or none, with the cost of the cheapest."""
    groups: dict[int, list[PartialPath]] = {}
    for path in paths.values():
        word = 0 if path[1] == NO_BACKPOINTER else histories.word(path[1])
        groups.setdefault(word, []).append(path)
    return [(min(cost for cost, _, _ in group), group) for group in groups.values()]


def _before(histories: Histories, group: list[PartialPath], limit: int) -> dict[int, PartialPath]:
    """What may come before a word, by class."""
    paths: dict[int, PartialPath] = {}
    for cost, backpointer, rest in group:
        trail = Trail(histories.word(backpointer), histories.frame(backpointer), rest)
        tails = histories.before(backpointer)
        histories.take_steps(len(tails))
        for name, (extra, last) in tails.items():
            total = cost + extra
            if total > limit:
                histories.cut = True
            elif name not in paths or total < paths[name][0]:
                paths[name] = (total, last, trail)
    return paths
