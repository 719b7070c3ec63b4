"""A graph in the layout that the search reads (``csrc/wfst/wfst_search.h``)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from earshot.decoder_kernels.graph.epsilon_order import EpsilonOrder, epsilon_order
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_key import LABEL_BITS

NODE_COLUMNS = 6
WORDS_SHIFT, MANY_WORDS = 9, 3
GAIN_SHIFT, MAX_GAIN_STEPS, GAIN_STEP = 10, (1 << 21) - 1, 1 / 16
EXCESS_STEP, MAX_EXCESS_STEPS = 1 / 512, (1 << 16) - 1
"""As in ``csrc/wfst/wfst_state.h``."""

UNLIMITED = 1e30
"""What many steps may stand for; finite, as it is multiplied with a scale that can be 0."""


@dataclass(frozen=True)
class WfstTables:
    """The arrays of one graph on a device.

    ``nodes`` (S + 1, 6) int32: first arc, first arc with a label, bits of the least that one of
    these can cost with what epsilon arcs then gain, kind, and the labels of these arcs modulo 64 as
    the bits of an int64; the last row says where arcs end. ``arcs`` (A, 4) int32: bits of the
    weight, target, word, its target's kind. ``labels`` (A,) uint32: the label, `word_bits`, and
    above them by how much the arc costs more than the node's least (``wfst_state.h``); ``finals``
    (S,) float32; ``kinds`` (S,) `node_kinds`; ``min_weight`` the least of all nodes, ``max_weight``
    what an arc costs or gains at most, those of new words too; ``max_eps_words`` the most words on
    one path of epsilon arcs, ``max_arc_words`` on an arc with a label and such a path behind it.
    """

    nodes: Tensor
    labels: Tensor
    arcs: Tensor
    finals: Tensor
    kinds: npt.NDArray[np.int32]
    min_weight: float
    max_weight: float
    num_levels: int
    max_eps_words: int
    max_arc_words: int

    @classmethod
    def of(cls, graph: Graph, device: torch.device) -> "WfstTables":
        """Raises InvalidGraph for epsilon arcs that cannot be put in an order."""
        order = epsilon_order(graph)
        nodes = np.zeros((graph.num_nodes + 1, NODE_COLUMNS), np.int32)
        nodes[:, 0] = graph.first_arc
        nodes[:-1, 1] = graph.first_label
        nodes[-1, 1] = graph.num_arcs
        kinds = node_kinds(graph, order)
        target_kinds = kinds[graph.targets]
        gains = _gains(target_kinds)
        of_nodes = _fold_labelled(graph, np.minimum, _least(graph.weights, gains))
        nodes[:-1, 2] = of_nodes.view(np.int32)
        nodes[:-1, 3] = kinds
        nodes[:-1, 4:] = _label_bits(graph).view(np.int32).reshape(-1, 2)
        arcs = np.empty((graph.num_arcs, 4), np.int32)
        arcs[:, 0] = graph.weights.view(np.int32)
        arcs[:, 1], arcs[:, 2] = graph.targets, graph.words
        arcs[:, 3] = target_kinds
        arc_words = (graph.words != 0) + order.words[graph.targets]
        return cls(
            nodes=torch.from_numpy(nodes).to(device),
            labels=torch.from_numpy(
                _packed_labels(graph, gains, of_nodes) | word_bits(arc_words)
            ).to(device),
            arcs=torch.from_numpy(arcs).to(device),
            kinds=kinds,
            finals=torch.from_numpy(np.array(graph.finals)).to(device),
            min_weight=float(nodes[:, 2].view(np.float32).min()),
            max_weight=float(np.abs(graph.weights).max(initial=abs(graph.unknown_cost))),
            num_levels=order.num_levels,
            max_eps_words=int(order.words.max()),
            max_arc_words=_most_words(graph, order, arc_words),
        )


def word_bits(words: npt.NDArray[np.integer]) -> npt.NDArray[np.uint32]:
    """(A,): above labels, how many words come with arcs and epsilon arcs behind them."""
    told: npt.NDArray[np.uint32] = np.minimum(words, MANY_WORDS).astype(np.uint32)
    return np.left_shift(told, np.uint32(LABEL_BITS))


def label_bits(labels: npt.NDArray[np.integer]) -> npt.NDArray[np.uint64]:
    """Each label as a bit of 64; different labels can share one."""
    bits = np.uint64(1) << np.arange(64, dtype=np.uint64)
    found: npt.NDArray[np.uint64] = bits[labels % 64]
    return found


def node_kinds(graph: Graph, order: EpsilonOrder) -> npt.NDArray[np.int32]:
    """(S,): what is to know of epsilon arcs from the node (``wfst_state.h``)."""
    has_epsilons = (graph.first_label > graph.first_arc[:-1]).astype(np.int32)
    steps = np.minimum(np.ceil(order.gain / GAIN_STEP), MAX_GAIN_STEPS).astype(np.int32)
    has_words = (order.words > 0).astype(np.int32)
    return has_epsilons | 2 * order.level | has_words << WORDS_SHIFT | steps << GAIN_SHIFT


def least_weights(
    weights: npt.NDArray[np.float32], target_kinds: npt.NDArray[np.int32]
) -> npt.NDArray[np.float32]:
    """(A,): what arcs cost at least, with what epsilon arcs gain after them."""
    return _least(weights, _gains(target_kinds))


def _least(
    weights: npt.NDArray[np.float32], gains: npt.NDArray[np.float64]
) -> npt.NDArray[np.float32]:
    """(A,): a little below what weights less gains are."""
    least = (weights - gains).astype(np.float32)
    return np.nextafter(least, np.float32(-np.inf))


def _gains(kinds: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    steps = kinds >> GAIN_SHIFT
    return np.where(steps < MAX_GAIN_STEPS, steps * GAIN_STEP, UNLIMITED)


def _most_words(graph: Graph, order: EpsilonOrder, of_arcs: npt.NDArray[np.integer]) -> int:
    """The most words on an arc with a label, a dynamic one too, and on epsilon arcs behind it."""
    most = int(of_arcs[graph.labels != 0].max(initial=0))
    dynamic = 0 if graph.loop_node < 0 else 1 + int(order.words[graph.loop_node])
    return max(most, dynamic)


def _packed_labels(
    graph: Graph, gains: npt.NDArray[np.float64], of_nodes: npt.NDArray[np.float32]
) -> npt.NDArray[np.uint32]:
    """(A,): labels, and in the upper half by how much an arc costs more than its node's least."""
    of_sources = np.repeat(of_nodes, np.diff(graph.first_arc))
    is_known = gains < UNLIMITED
    excess = (graph.weights - np.where(is_known, gains, 0.0) - of_sources) / EXCESS_STEP
    steps = np.where(is_known, np.clip(excess, 0, MAX_EXCESS_STEPS), 0).astype(np.uint32)
    return graph.labels.astype(np.uint32) | steps << np.uint32(16)


def _label_bits(graph: Graph) -> npt.NDArray[np.uint64]:
    """(S,): `label_bits` of each node's arcs with a label."""
    return _fold_labelled(graph, np.bitwise_or, label_bits(graph.labels))


def _fold_labelled(graph: Graph, fold: np.ufunc, of_arcs: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(S,): what a fold makes of each node's arcs with a label, 0 where there are none."""
    folded = np.zeros(graph.num_nodes, of_arcs.dtype)
    ends = graph.first_arc[1:]
    counts = ends - graph.first_label
    # Of most nodes there is nothing to fold, and a fold of one is a call of its own.
    single, several = np.flatnonzero(counts == 1), np.flatnonzero(counts > 1)
    folded[single] = of_arcs[graph.first_label[single]]
    if len(several):
        # Each second span lies between two nodes' labels and is thrown away.
        spans = np.stack((graph.first_label[several], ends[several]), axis=1).ravel()
        padded = np.append(of_arcs, of_arcs.dtype.type(0))
        folded[several] = fold.reduceat(padded, spans)[::2]
    return folded
