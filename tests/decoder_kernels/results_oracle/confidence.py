"""``csrc/results/word_confidence.h`` in NumPy."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice


def arc_posteriors(lattice: WordLattice, posterior_scale: float) -> npt.NDArray[np.float64]:
    """The share ``(A,)`` of all paths that goes through each arc, a path weighing exp(-scale cost).

    By the forward-backward algorithm in the log semiring.
    """
    scores = -posterior_scale * lattice.costs
    forward = _sums(lattice.targets, lattice.sources, scores, lattice.num_nodes)
    turned = lattice.num_nodes - 1 - np.stack([lattice.sources, lattice.targets])
    backward = _sums(turned[0], turned[1], scores, lattice.num_nodes)[::-1]
    through = forward[lattice.sources] + scores + backward[lattice.targets]
    posteriors: npt.NDArray[np.float64] = np.minimum(np.exp(through - forward[-1]), 1.0)
    return posteriors


class WordConfidences:
    """How sure one lattice is of the words of any hypothesis.

    ``posterior_scale`` multiplies costs: below 1, posteriors are less sure of the best path.
    ``coverage``: how often what is said is in a lattice at all; posteriors, which know of nothing
    else, are multiplied by it.
    """

    def __init__(self, lattice: WordLattice, posterior_scale: float, coverage: float = 1.0) -> None:
        self._words = lattice.words
        self._starts = lattice.frames[lattice.sources]
        self._stops = np.maximum(lattice.frames[lattice.targets], self._starts + 1)
        self._end = int(lattice.frames[-1])
        self._posteriors = arc_posteriors(lattice, posterior_scale)
        self._coverage = coverage

    def of(self, words: Sequence[int], frames: Sequence[int]) -> npt.NDArray[np.float64]:
        """Confidence in 0..1 of each word of a hypothesis that has these words at these frames.

        A word lasts from the frame in which it left the graph until the next one does, a frame at
        least. The hypothesis need not be a path: a word that no path has there gets 0.
        """
        ends = [*frames, self._end][1:]
        confidences = np.zeros(len(words))
        for i, (word, start, end) in enumerate(zip(words, frames, ends, strict=True)):
            confidences[i] = self._most(word, start, max(end, start + 1))
        return self._coverage * confidences

    def _most(self, word: int, start: int, stop: int) -> float:
        """The largest share of paths that have the word in one of these frames."""
        chosen = (self._words == word) & (self._starts < stop) & (self._stops > start)
        posteriors = self._posteriors[chosen]
        changes = np.zeros(stop - start + 1)
        np.add.at(changes, np.maximum(self._starts[chosen] - start, 0), posteriors)
        np.add.at(changes, np.minimum(self._stops[chosen], stop) - start, -posteriors)
        # The limits are for rounding, and for paths on which a word leaves twice in one frame.
        return float(np.clip(np.cumsum(changes[:-1]).max(), 0.0, 1.0))


def _sums(
    nodes: npt.NDArray[np.int32],
    before: npt.NDArray[np.int32],
    scores: npt.NDArray[np.float64],
    num_nodes: int,
) -> npt.NDArray[np.float64]:
    """Log of the weight of all paths from node 0 to each; arcs lead from lower to higher nodes."""
    depths = _depths(nodes, before, num_nodes)
    order = np.lexsort((nodes, depths[nodes]))
    nodes, before, scores = nodes[order], before[order], scores[order]
    firsts = np.flatnonzero(np.diff(nodes, prepend=-1))  # arcs, one of each node
    bounds = np.searchsorted(depths[nodes[firsts]], np.arange(1, depths.max() + 2))
    stops = [*firsts.tolist(), len(nodes)]
    sums = np.zeros(num_nodes)
    for begin, end in pairwise(bounds.tolist()):
        arcs = slice(stops[begin], stops[end])
        paths = sums[before[arcs]] + scores[arcs]
        starts = firsts[begin:end]
        sums[nodes[starts]] = np.logaddexp.reduceat(paths, starts - starts[0])
    return sums


def _depths(
    nodes: npt.NDArray[np.int32], before: npt.NDArray[np.int32], num_nodes: int
) -> npt.NDArray[np.int64]:
    """The most arcs on a path to each node: nodes of one depth do not wait for each other."""
    depths = [0] * num_nodes
    order = np.argsort(before, kind="stable")
    for source, target in zip(before[order].tolist(), nodes[order].tolist(), strict=True):
        depths[target] = max(depths[target], depths[source] + 1)
    return np.array(depths)
