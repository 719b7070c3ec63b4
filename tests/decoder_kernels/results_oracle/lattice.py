"""``csrc/results/word_lattice.h`` in plain Python."""

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt
from results_oracle.histories import (
    NO_BACKPOINTER,
    BackpointerColumns,
    End,
    Histories,
    TooManyHistories,
)

from earshot.decoder_kernels.graph.wfst_options import FRACTION_BITS
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice

MAX_STEPS_PER_BEAM = 1 << 20
"""Of one try. Where a beam takes more, the lattice has a narrower one."""

_ARC_STEPS = 32

_NAT = 1 << FRACTION_BITS
_WIDEST_RETRY = 16 * _NAT


def word_lattice(
    backpointers: npt.NDArray[np.void],
    ends: Iterable[End],
    num_frames: int,
    lattice_beam: int,
    *,
    reached_final: bool,
    max_steps: int = MAX_STEPS_PER_BEAM,
) -> WordLattice:
    """The lattice of results ``ends``, each with its cost and backpointer, after so many frames.

    Where ``lattice_beam``, in the search's unit, takes more than ``max_steps``, narrower beams are
    tried, down to nothing but the best. Raises TooManyHistories where even that is too much.
    """
    columns, results, beam = BackpointerColumns.of(backpointers), list(ends), lattice_beam
    best = min(cost for cost, _ in results)
    while True:
        try:
            histories = Histories(columns, results, best + beam, max_steps)
            found = _Determinized(histories, best + beam, num_frames)
            return found.lattice(beam / _NAT, reached_final)
        except TooManyHistories:
            if beam == 0:
                raise
            beam = min(beam * 3 // 4, _WIDEST_RETRY) if beam > _NAT else 0


Subset = dict[int, tuple[int, int]]
"""Of a determinized state: by class the cost of a whole result, and the backpointer before it."""

Group = list[tuple[int, int, int]]
"""The members of a subset that have the same last word: class, cost and backpointer of each."""


@dataclass(frozen=True)
class _Arc:
    """To be drawn: ``group`` is the subset before ``word``, which left the graph in ``frame``."""

    word: int
    frame: int
    group: Group
    target: int
    cost: int  # of the cheapest result with it


class _Determinized:
    """Histories read from the end, so that each sequence of words is one path.

    This is Povey et al. 2012 (Generating Exact Lattices in the WFST Framework), from behind and on
    backpointers: a node stands for the subset of what may come before the words that follow it, and
    for what each costs more than the cheapest; where that is equal, nodes are one. Arcs are drawn
    in the order of the cheapest result that each is part of: so a node is made by its cheapest use,
    when what must be kept is known.
    """

    def __init__(self, histories: Histories, limit: int, num_frames: int) -> None:
        self._histories, self._limit = histories, limit
        self._frames: list[int] = []
        self._ranks: list[int] = []  # rise along arcs
        self._costs: list[int] = []  # of the cheapest result through a node
        self._nodes: dict[tuple[int, frozenset[tuple[int, int]]], int] = {}
        self._groups: dict[tuple[int, frozenset[tuple[int, int]]], int] = {}
        self._heap: list[tuple[int, int, _Arc]] = []
        self._pushed = 0
        self._drawn: list[
            tuple[int, int, int, int]
        ] = []  # source or NO_BACKPOINTER, target, word, cost
        self._node(num_frames, histories.root)
        while self._heap:
            self._draw(heappop(self._heap)[2])

    def lattice(self, beam: float, reached_final: bool) -> WordLattice:
        """As arrays: the beginning first, then nodes by rank."""
        order = np.argsort(self._ranks, kind="stable")
        places = np.zeros(len(order) + 1, dtype=np.int32)  # the last, NO_BACKPOINTER's, stays 0
        places[order] = np.arange(1, len(places))
        drawn = np.array(self._drawn, dtype=np.int64)
        sources, targets, words = places[drawn[:, 0]], places[drawn[:, 1]], drawn[:, 2]
        arcs = np.lexsort((words, targets, sources))
        return WordLattice(
            frames=np.concatenate([[0], np.array(self._frames)[order]]).astype(np.int32),
            sources=sources[arcs],
            targets=targets[arcs],
            words=words[arcs].astype(np.int32),
            costs=drawn[arcs, 3] / _NAT,
            beam=beam,
            reached_final=reached_final,
        )

    def _draw(self, arc: _Arc) -> None:
        cost = arc.cost - self._costs[arc.target]
        if arc.word:
            self._drawn.append((self._source(arc), arc.target, arc.word, cost))
        else:
            self._drawn.append((NO_BACKPOINTER, arc.target, 0, self._costs[0] + cost))

    def _source(self, arc: _Arc) -> int:
        """The node before a word; if the same subset was met before, without looking at it."""
        key = (arc.frame, frozenset((name, cost - arc.cost) for name, cost, _ in arc.group))
        if key not in self._groups:
            self._groups[key] = self._node(arc.frame, self._before(arc.group))
        return self._groups[key]

    def _before(self, group: Group) -> Subset:
        subset: Subset = {}
        for _, cost, backpointer in group:
            tails = self._histories.before(backpointer)
            self._histories.take_steps(len(tails))
            for name, (extra, last) in tails.items():
                total = cost + extra
                if total <= self._limit and (name not in subset or total < subset[name][0]):
                    subset[name] = (total, last)
        return subset

    def _node(self, frame: int, subset: Subset) -> int:
        least = min(cost for cost, _ in subset.values())
        key = (frame, frozenset((name, cost - least) for name, (cost, _) in subset.items()))
        node = self._nodes.setdefault(key, len(self._frames))
        if node == len(self._frames):
            self._frames.append(frame)
            self._ranks.append(max(subset))
            self._costs.append(least)
            self._push_arcs(node, frame, subset)
        return node

    def _push_arcs(self, node: int, frame: int, subset: Subset) -> None:
        groups: dict[int, Group] = {}
        for name, (cost, backpointer) in subset.items():
            word = 0 if backpointer == NO_BACKPOINTER else self._histories.word(backpointer)
            groups.setdefault(word, []).append((name, cost, backpointer))
        self._histories.take_steps(_ARC_STEPS * len(groups) + 4 * len(subset))
        for word, group in groups.items():
            _, cost, backpointer = min(group, key=lambda each: each[1])
            start = min(self._histories.frame(backpointer), frame) if word else 0
            heappush(self._heap, (cost, self._pushed, _Arc(word, start, group, node, cost)))
            self._pushed += 1
