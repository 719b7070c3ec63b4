"""What the word records of a slot spell out: histories within a limit, each sequence named once."""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import TooManyHistories

NO_RECORD = -1
NOTHING = 0
"""The class of the history without words."""

_RECORD_STEPS = 16

End = tuple[int, int]
"""What a history costs as a result, in the search's unit, and its record."""

Tails = dict[int, tuple[int, int]]
"""How histories may end: by class of word record the cost, and the cheapest record of it."""


class RecordColumns(NamedTuple):
    """The fields of a slot's records (``csrc/wfst/wfst_state.h``), each fast to index.

    They are in the slot's memory, of which a list or lattice needs little: good until it changes.
    """

    first: memoryview
    other: memoryview
    word: memoryview
    value: memoryview

    @classmethod
    def of(cls, records: npt.NDArray[np.void]) -> "RecordColumns":
        """Without a copy."""
        return cls(*(records[field].data for field in cls._fields))


class Histories:
    """The histories of ``ends`` that cost at most ``limit`` in all.

    Tokens that went different ways through the graph remember the same words in records of their
    own. Two word records are of one *class* where their word is the same and so is what may stand
    before it, with its extra costs. There are 7 to 60 times fewer classes than records. Numbers of
    classes rise along a history.

    Raises TooManyHistories where it takes more than ``max_steps`` to find this out; the rest of the
    steps is the caller's (`take_steps`). Attributes: ``root``, the tails of all results with their
    whole costs; ``cut``, whether the limit left anything out.
    """

    def __init__(
        self, records: RecordColumns, ends: Iterable[End], limit: int, max_steps: int
    ) -> None:
        self._first, self._other, self._word, self._value = records
        self._limit = limit
        self._steps_left = max_steps
        self._classes: dict[tuple[int, int], int] = {}
        self._names: dict[frozenset[tuple[int, int]], int] = {}
        self._name_of: dict[int, int] = {}
        cheapest: dict[int, int] = {}
        for cost, record in sorted(ends, key=lambda end: end[0]):
            cheapest.setdefault(record, cost)
        within = [(cost, record) for record, cost in cheapest.items() if cost <= limit]
        self.cut = len(within) < len(cheapest)
        self._costs = self._cheapest_through(within)
        self._tails: dict[int, Tails] = {NO_RECORD: {NOTHING: (0, NO_RECORD)}}
        for record in self._first_things_first(within):
            self._tails[record] = self._tails_of(record)
        self.root = self._joined(within)

    def word(self, record: int) -> int:
        """The word of a word record."""
        word: int = self._word[record]
        return word

    def frame(self, record: int) -> int:
        """The frame in which the word left the graph."""
        frame: int = self._other[record]
        return frame

    def before(self, record: int) -> Tails:
        """The tails of what stands before a word record; the cheapest costs nothing extra."""
        return self._tails[self._first[record]]

    def take_steps(self, steps: int) -> None:
        """Count work: one to look at a tail, a fifth of a microsecond. Raises TooManyHistories."""
        self._steps_left -= steps
        if self._steps_left < 0:
            raise TooManyHistories("the beam holds more alternatives than are followed")

    def _cheapest_through(self, ends: list[End]) -> dict[int, int]:
        """Least cost of a result through each record. A first history never costs extra."""
        costs = {NO_RECORD: 0}
        heap = list(ends)
        heapify(heap)
        while heap:
            cost, record = heappop(heap)
            while record not in costs:
                costs[record] = cost
                if not self._word[record]:
                    extra = cost + self._value[record]
                    if extra <= self._limit:
                        heappush(heap, (extra, self._other[record]))
                    else:
                        self.cut = True
                record = self._first[record]
        return costs

    def _first_things_first(self, ends: list[End]) -> list[int]:
        """The records within the limit, each after those that it names."""
        self.take_steps(_RECORD_STEPS * len(self._costs))
        ordered: list[int] = []
        seen = {NO_RECORD}
        stack = [record for _, record in reversed(ends)]
        while stack:
            record = stack.pop()
            if record < NO_RECORD:  # all that it names has been seen to
                ordered.append(NO_RECORD - 1 - record)
            elif record not in seen:
                seen.add(record)
                stack.append(NO_RECORD - 1 - record)
                if not self._word[record] and self._other[record] in self._costs:
                    stack.append(self._other[record])
                stack.append(self._first[record])
        return ordered

    def _tails_of(self, record: int) -> Tails:
        first = self._tails[self._first[record]]
        if self._word[record]:
            return {self._class(record): (0, record)}
        extra = self._value[record]
        slack = self._limit - self._costs[record]
        return first if extra > slack else self._merged(first, self._other[record], extra, slack)

    def _merged(self, first: Tails, other: int, extra: int, slack: int) -> Tails:
        """Both tails, ``first`` itself where the other says nothing new."""
        tails = self._tails[other]
        self.take_steps(len(tails))
        news: Tails = {}
        for name, (cost, record) in tails.items():
            if cost + extra > slack:
                self.cut = True
            elif name not in first or cost + extra < first[name][0]:
                news[name] = (cost + extra, record)
        if not news:
            return first
        self.take_steps(len(first))
        kept = {name: tail for name, tail in first.items() if tail[0] <= slack}
        self.cut = self.cut or len(kept) < len(first)
        return kept | news

    def _class(self, record: int) -> int:
        key = (self._name(self._first[record]), self._word[record])
        return self._classes.setdefault(key, len(self._classes) + 1)

    def _name(self, record: int) -> int:
        """The same for records with the same histories."""
        tails = self._tails[record]
        name = self._name_of.get(id(tails))
        if name is None:
            histories = frozenset((tail, cost) for tail, (cost, _) in tails.items())
            name = self._names.setdefault(histories, len(self._names))
            self._name_of[id(tails)] = name
        return name

    def _joined(self, ends: list[End]) -> Tails:
        root: Tails = {}
        for end, record in ends:
            self.take_steps(len(self._tails[record]))
            for name, (extra, last) in self._tails[record].items():
                cost = end + extra
                if cost > self._limit:
                    self.cut = True
                elif name not in root or cost < root[name][0]:
                    root[name] = (cost, last)
        return root
