"""Nodes that only lead on, by one epsilon arc.

A word that is the beginning of others ends in a disambiguation symbol even after a history where
none of the others is known. Once the symbol is epsilon, the node before it is a detour: a search
would put a token there only to take it away again. In the graph of a pruned trigram over 20,000
words a quarter of all arcs led into such nodes.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from earshot.language.graphs.fst import Fst

MAX_ROUNDS = 32
"""Each doubles the length of the chains that are cut short."""


def without_detours(fst: Fst, kept: Sequence[int]) -> tuple[Fst, npt.NDArray[np.int64]]:
    """The same costs with fewer states, and the new number of each state, -1 for those gone.

    Every state must lead to a final one, so that detours do not go round in a ring. The states
    ``kept`` and the start stay. Of arcs that have become parallel the cheapest stays.
    """
    states = np.arange(fst.num_states)
    ahead, cost = _next_stop(fst, [fst.start, *kept])
    stays = ahead == states
    numbers = np.where(stays, np.cumsum(stays) - 1, -1)
    sources = fst.sources
    arcs = np.flatnonzero(stays[sources])
    weights = fst.weights[arcs] + cost[fst.targets[arcs]]
    targets = ahead[fst.targets[arcs]]
    arcs, weights, targets = _cheapest(fst, arcs, weights, targets)
    shorter = Fst.from_columns(
        int(numbers[fst.start]),
        fst.finals[stays],
        numbers[sources[arcs]],
        fst.ilabels[arcs],
        fst.olabels[arcs],
        weights,
        numbers[targets],
    )
    return shorter, numbers


def _next_stop(
    fst: Fst, kept: Sequence[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """For each state: where its epsilon detour ends (itself if none), and the detour's cost."""
    single = (np.diff(fst.first_arc) == 1) & np.isinf(fst.finals)
    single[list(kept)] = False
    detours = np.flatnonzero(single)
    arcs = fst.first_arc[detours]
    silent = (fst.ilabels[arcs] == 0) & (fst.olabels[arcs] == 0)
    ahead = np.arange(fst.num_states)
    cost = np.zeros(fst.num_states, np.float32)
    ahead[detours[silent]] = fst.targets[arcs[silent]]
    cost[detours[silent]] = fst.weights[arcs[silent]]
    for _ in range(MAX_ROUNDS):
        further = ahead[ahead]
        if np.array_equal(further, ahead):
            break
        cost = cost + cost[ahead]
        ahead = further
    return ahead, cost


def _cheapest(
    fst: Fst,
    arcs: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float32],
    targets: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    columns = (targets, fst.olabels[arcs], fst.ilabels[arcs], fst.sources[arcs])
    order = np.lexsort((weights, *columns))
    same = np.ones(max(0, len(order) - 1), bool)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    order = order[np.concatenate((np.ones(min(1, len(order)), bool), ~same))]
    return arcs[order], weights[order], targets[order]
