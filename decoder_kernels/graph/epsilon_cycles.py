"""Cycles of epsilon arcs, which consume no frame: the search must not gain by going round them.

The rule is strict: no arc of such a cycle has a negative cost or a word. Then going round never
lowers a cost, not even by rounding (adding what is not negative is monotone in floating point),
and no boost can be earned without a token.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import UnsafeEpsilonCycle

Ints = npt.NDArray[np.int32]
Wide = npt.NDArray[np.int64]

PEELING_ROUNDS = 64
"""The back-off arcs of an n-gram are peeled in n rounds; what outlasts these goes the slow way."""


def refuse_unsafe_cycles(
    first_arc: Ints,
    first_label: Ints,
    words: Ints,
    weights: npt.NDArray[np.float32],
    targets: Ints,
) -> None:
    """Raises UnsafeEpsilonCycle naming a node. Arrays as in `Graph`; their indices must be valid.

    Arcs ``first_arc[s]`` to ``first_label[s]`` are the epsilon arcs of node ``s``.
    """
    counts = (first_label - first_arc[:-1]).astype(np.int64)
    sources = np.repeat(np.arange(len(counts)), counts)
    shift = np.repeat(first_arc[:-1] - (np.cumsum(counts) - counts), counts)
    arcs = np.arange(len(sources)) + shift
    ends = targets[arcs].astype(np.int64)
    rest = _peel(sources, ends, len(counts))
    if not len(rest):
        return
    component = _components(sources[rest], ends[rest])
    for arc in rest[(weights[arcs[rest]] < 0) | (words[arcs[rest]] != 0)]:
        source, end = int(sources[arc]), int(ends[arc])
        if component[source] == component[end]:
            what = "outputs a word" if words[arcs[arc]] else f"costs {weights[arcs[arc]]:g}"
            raise UnsafeEpsilonCycle(
                f"an arc from node {source} to {end} lies on a cycle of epsilon arcs and {what}: "
                "a search could go round it for gain"
            )


def _peel(sources: Wide, ends: Wide, num_nodes: int) -> Wide:
    """The arcs left when those that lead to a dead end or come from nowhere are taken away."""
    rest = np.arange(len(sources))
    for _ in range(PEELING_ROUNDS):
        leaves, enters = np.zeros(num_nodes, bool), np.zeros(num_nodes, bool)
        leaves[sources[rest]] = True
        enters[ends[rest]] = True
        kept = rest[leaves[ends[rest]] & enters[sources[rest]]]
        if len(kept) == len(rest):
            break
        rest = kept
    return rest


def _components(sources: Wide, ends: Wide) -> dict[int, int]:
    """The strongly connected component of each node."""
    arcs: dict[int, list[int]] = {}
    for source, end in zip(sources.tolist(), ends.tolist(), strict=True):
        arcs.setdefault(source, []).append(end)
    walk = _Tarjan(arcs)
    for node in arcs:
        walk.from_node(node)
    return walk.component


class _Tarjan:
    """Tarjan's depth first search (1972), on a stack of its own: cycles may be long."""

    def __init__(self, arcs: Mapping[int, Sequence[int]]) -> None:
        self.component: dict[int, int] = {}
        self._arcs = arcs
        self._order: dict[int, int] = {}
        self._low: dict[int, int] = {}
        self._open: list[int] = []
        self._stack: list[tuple[int, Iterator[int]]] = []

    def from_node(self, root: int) -> None:
        """Find the components of all that can be reached."""
        if root not in self._order:
            self._enter(root)
        while self._stack:
            node, ahead = self._stack[-1]
            end = next(ahead, None)
            if end is None:
                self._leave(node)
            elif end not in self._order:
                self._enter(end)
            elif end not in self.component:
                self._low[node] = min(self._low[node], self._order[end])

    def _enter(self, node: int) -> None:
        self._order[node] = self._low[node] = len(self._order)
        self._open.append(node)
        self._stack.append((node, iter(self._arcs.get(node, ()))))

    def _leave(self, node: int) -> None:
        self._stack.pop()
        if self._stack:
            parent = self._stack[-1][0]
            self._low[parent] = min(self._low[parent], self._low[node])
        while self._low[node] == self._order[node] and node not in self.component:
            self.component[self._open.pop()] = node
