"""``csrc/results/histories.h`` in plain Python, with the same count of steps."""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

NO_BACKPOINTER = -1
NOTHING = 0
"""The class of the history without words."""

_BACKPOINTER_STEPS = 16


class TooManyHistories(Exception):
    """More alternatives than are followed."""


End = tuple[int, int]
"""What a history costs as a result, in the search's unit, and its backpointer."""

Tails = dict[int, tuple[int, int]]
"""How histories may end: by class of word the cost, and the cheapest backpointer of that class."""


class BackpointerColumns(NamedTuple):
    """The fields of a slot's backpointers (``csrc/wfst/wfst_search.h``), each fast to index.

    They are in the slot's memory, of which a list or lattice needs little: good until it changes.
    """

    first: memoryview
    other: memoryview
    word: memoryview
    value: memoryview

    @classmethod
    def of(cls, backpointers: npt.NDArray[np.void]) -> "BackpointerColumns":
        """Without a copy."""
        return cls(*(backpointers[field].data for field in cls._fields))


class Histories:
    """The histories of ``ends`` that cost at most ``limit`` in all.

    Tokens that took different paths through the graph remember the same words in backpointers of
    their own. Two words' backpointers are of one *class* where their word is the same and so is
    what may stand before it, with its extra costs. There are 7 to 60 times fewer classes than
    backpointers. Numbers of classes rise along a history.

    Raises TooManyHistories where it takes more than ``max_steps`` to find this out; the rest of the
    steps is the caller's (`take_steps`). Attributes: ``root``, the tails of all results with their
    whole costs; ``cut``, whether the limit left anything out.
    """

    def __init__(
        self, backpointers: BackpointerColumns, ends: Iterable[End], limit: int, max_steps: int
    ) -> None:
        self._first, self._other, self._word, self._value = backpointers
        self._limit = limit
        self._steps_left = max_steps
        self._classes: dict[tuple[int, int], int] = {}
        self._names: dict[frozenset[tuple[int, int]], int] = {}
        self._name_of: dict[int, int] = {}
        cheapest: dict[int, int] = {}
        for cost, backpointer in sorted(ends, key=lambda end: end[0]):
            cheapest.setdefault(backpointer, cost)
        within = [(cost, backpointer) for backpointer, cost in cheapest.items() if cost <= limit]
        self.cut = len(within) < len(cheapest)
        self._costs = self._cheapest_through(within)
        self._tails: dict[int, Tails] = {NO_BACKPOINTER: {NOTHING: (0, NO_BACKPOINTER)}}
        for backpointer in self._first_things_first(within):
            self._tails[backpointer] = self._tails_of(backpointer)
        self.root = self._joined(within)

    def word(self, backpointer: int) -> int:
        """The word of a word backpointer."""
        word: int = self._word[backpointer]
        return word

    def frame(self, backpointer: int) -> int:
        """The frame in which the word left the graph."""
        frame: int = self._other[backpointer]
        return frame

    def before(self, backpointer: int) -> Tails:
        """The tails of what stands before a word backpointer; the cheapest costs nothing extra."""
        return self._tails[self._first[backpointer]]

    def take_steps(self, steps: int) -> None:
        """Count work: one to look at a tail, a fifth of a microsecond. Raises TooManyHistories."""
        self._steps_left -= steps
        if self._steps_left < 0:
            raise TooManyHistories("the beam holds more alternatives than are followed")

    def _cheapest_through(self, ends: list[End]) -> dict[int, int]:
        """Least cost of a result through each backpointer. A first history never costs extra."""
        costs = {NO_BACKPOINTER: 0}
        heap = list(ends)
        heapify(heap)
        while heap:
            cost, backpointer = heappop(heap)
            while backpointer not in costs:
                costs[backpointer] = cost
                if not self._word[backpointer]:
                    extra = cost + self._value[backpointer]
                    if extra <= self._limit:
                        heappush(heap, (extra, self._other[backpointer]))
                    else:
                        self.cut = True
                backpointer = self._first[backpointer]
        return costs

    def _first_things_first(self, ends: list[End]) -> list[int]:
        """The backpointers within the limit, each after those that it names."""
        self.take_steps(_BACKPOINTER_STEPS * len(self._costs))
        ordered: list[int] = []
        seen = {NO_BACKPOINTER}
        stack = [backpointer for _, backpointer in reversed(ends)]
        while stack:
            backpointer = stack.pop()
            if backpointer < NO_BACKPOINTER:  # all that it names has been seen to
                ordered.append(NO_BACKPOINTER - 1 - backpointer)
            elif backpointer not in seen:
                seen.add(backpointer)
                stack.append(NO_BACKPOINTER - 1 - backpointer)
                if not self._word[backpointer] and self._other[backpointer] in self._costs:
                    stack.append(self._other[backpointer])
                stack.append(self._first[backpointer])
        return ordered

    def _tails_of(self, backpointer: int) -> Tails:
        first = self._tails[self._first[backpointer]]
        if self._word[backpointer]:
            return {self._class(backpointer): (0, backpointer)}
        extra = self._value[backpointer]
        slack = self._limit - self._costs[backpointer]
        return (
            first if extra > slack else self._merged(first, self._other[backpointer], extra, slack)
        )

    def _merged(self, first: Tails, other: int, extra: int, slack: int) -> Tails:
        """Both tails, ``first`` itself where the other says nothing new."""
        tails = self._tails[other]
        self.take_steps(len(tails))
        news: Tails = {}
        for name, (cost, backpointer) in tails.items():
            if cost + extra > slack:
                self.cut = True
            elif name not in first or cost + extra < first[name][0]:
                news[name] = (cost + extra, backpointer)
        if not news:
            return first
        self.take_steps(len(first))
        kept = {name: tail for name, tail in first.items() if tail[0] <= slack}
        self.cut = self.cut or len(kept) < len(first)
        return kept | news

    def _class(self, backpointer: int) -> int:
        key = (self._name(self._first[backpointer]), self._word[backpointer])
        return self._classes.setdefault(key, len(self._classes) + 1)

    def _name(self, backpointer: int) -> int:
        """The same for backpointers with the same histories."""
        tails = self._tails[backpointer]
        name = self._name_of.get(id(tails))
        if name is None:
            histories = frozenset((tail, cost) for tail, (cost, _) in tails.items())
            name = self._names.setdefault(histories, len(self._names))
            self._name_of[id(tails)] = name
        return name

    def _joined(self, ends: list[End]) -> Tails:
        root: Tails = {}
        for end, backpointer in ends:
            self.take_steps(len(self._tails[backpointer]))
            for name, (extra, last) in self._tails[backpointer].items():
                cost = end + extra
                if cost > self._limit:
                    self.cut = True
                elif name not in root or cost < root[name][0]:
                    root[name] = (cost, last)
        return root
