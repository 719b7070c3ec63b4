"""Word lattices (docs/decisions/0036-word-lattices.md); ``csrc/results`` draws them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class WordLattice:
    """Alternatives to the best result: each path is another sequence of words.

    A node is a time, in frames since the slot's reset: node 0 the beginning, the last node the end
    of what was searched. An arc is a word from the frame in which it left the graph to that of the
    next word; arcs from node 0 have word 0 and last until the first word.

    ``frames`` (N,) int32 of the nodes; they do not fall along an arc.
    ``sources``, ``targets`` (A,) int32, ``sources`` < ``targets``; ``words`` (A,) int32; ``costs``
    (A,) float64 in nats. Arcs are in the order of source, target, word.
    The costs of a path add up to what its words cost as a result; all that its alternatives share
    is on its first arc. Every arc is on a path that costs at most ``beam`` nats more than the best.
    ``beam``: every sequence of words is a path that costs at most so much more than the best, and
    that no beam of the search has cut. Less than the search's lattice_beam where that would have
    been too much. ``reached_final``: results are at final nodes of the graph.
    """

    frames: npt.NDArray[np.int32]
    sources: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    words: npt.NDArray[np.int32]
    costs: npt.NDArray[np.float64]
    beam: float
    reached_final: bool

    @property
    def num_nodes(self) -> int:
        """Nodes, the beginning and the end included."""
        return len(self.frames)

    @property
    def num_arcs(self) -> int:
        """Arcs, those of the beginning included."""
        return len(self.words)
