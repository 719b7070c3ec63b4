"""In what order epsilon arcs are followed, and how much they can gain: facts of a graph.

The search closes a frame over epsilon arcs level by level, so that a token's cost is final before
it is passed on, and each is passed on once.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import InvalidGraph
from earshot.decoder_kernels.graph.graph import Graph

MAX_LEVELS = 255


@dataclass(frozen=True, eq=False)
class EpsilonOrder:
    """level ``(S,)``: the longest epsilon path that leads to a node.

    gain ``(S,)``: by how much the cheapest epsilon path that starts at a node is below 0; 0 where
    none is. Back-off weights above 1 are such gains. words ``(S,)``: the most words on one.
    """

    level: npt.NDArray[np.int32]
    gain: npt.NDArray[np.float64]
    words: npt.NDArray[np.int32]

    @property
    def num_levels(self) -> int:
        """One more than the highest level."""
        return int(self.level.max()) + 1


def epsilon_order(graph: Graph) -> EpsilonOrder:
    """Sort a graph's nodes by their epsilon arcs.

    Raises InvalidGraph for a cycle of them, and for paths of more than ``MAX_LEVELS``.
    """
    chosen = np.flatnonzero(graph.labels == 0)
    sources = np.searchsorted(graph.first_arc, chosen, side="right") - 1
    targets = graph.targets[chosen].astype(np.int64)
    level = _levels(sources, targets, graph.num_nodes)
    gain = np.zeros(graph.num_nodes)
    words = np.zeros(graph.num_nodes, dtype=np.int32)
    for each in range(int(level.max()) - 1, -1, -1):
        here = np.flatnonzero(level[sources] == each)
        arcs = chosen[here]
        np.maximum.at(gain, sources[here], gain[targets[here]] - graph.weights[arcs])
        np.maximum.at(words, sources[here], words[targets[here]] + (graph.words[arcs] != 0))
    return EpsilonOrder(level, gain, words)


def _levels(
    sources: npt.NDArray[np.int64], targets: npt.NDArray[np.int64], num_nodes: int
) -> npt.NDArray[np.int32]:
    """Peel off, round by round, the nodes that no arc is left to lead to."""
    level = np.zeros(num_nodes, dtype=np.int32)
    waiting = np.bincount(targets, minlength=num_nodes)
    number = 0
    while len(sources):
        free = waiting[sources] == 0
        number += 1
        if not free.any():
            raise InvalidGraph(
                f"epsilon arcs form a cycle through or from node {int(sources[0])}: "
                "remove the graph's epsilons first"
            )
        if number > MAX_LEVELS:
            raise InvalidGraph(f"more than {MAX_LEVELS} epsilon arcs follow one another")
        level[targets[free]] = number
        waiting -= np.bincount(targets[free], minlength=num_nodes)
        sources, targets = sources[~free], targets[~free]
    return level
