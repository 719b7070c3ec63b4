"""A graph in the layout that the search reads (``csrc/wfst_search.h``)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from decoder_kernels.epsilon_order import EpsilonOrder, epsilon_order
from decoder_kernels.graph import Graph

MAX_GAIN = 1e9
"""Of a path of epsilon arcs, in nats; more makes no difference, as costs are clamped.

Times the largest scale and 2^24 it must fit into 64 bits.
"""


@dataclass(frozen=True)
class WfstTables:
    """The arrays of one graph on a device.

    ``nodes`` (S + 1, 4) int32: first arc, first arc with a label, bits of the smallest weight of
    these, epsilon level; the last row says where arcs end. ``arcs`` (A, 4) int32: bits of the
    weight, target, word, its target's kind; ``labels`` (A,) int16. ``gains`` (S,) float64 and
    ``eps_words`` (S,) int32 as in `EpsilonOrder`; ``finals`` (S,) float32,
    ``kinds`` (S,) `node_kinds`.
    """

    nodes: Tensor
    labels: Tensor
    arcs: Tensor
    gains: Tensor
    eps_words: Tensor
    finals: Tensor
    kinds: npt.NDArray[np.int32]
    num_levels: int
    max_gain: float
    max_eps_words: int

    @classmethod
    def of(cls, graph: Graph, device: torch.device) -> "WfstTables":
        """Raises InvalidGraph for epsilon arcs that cannot be put in an order."""
        order = epsilon_order(graph)
        nodes = np.zeros((graph.num_nodes + 1, 4), np.int32)
        nodes[:, 0] = graph.first_arc
        nodes[:-1, 1] = graph.first_label
        nodes[-1, 1] = graph.num_arcs
        nodes[:-1, 2] = _smallest_weights(graph).view(np.int32)
        nodes[:-1, 3] = order.level
        arcs = np.empty((graph.num_arcs, 4), np.int32)
        arcs[:, 0] = graph.weights.view(np.int32)
        arcs[:, 1], arcs[:, 2] = graph.targets, graph.words
        kinds = node_kinds(graph, order)
        arcs[:, 3] = kinds[graph.targets]
        gains = np.minimum(order.gain, MAX_GAIN)
        return cls(
            nodes=torch.from_numpy(nodes).to(device),
            labels=torch.from_numpy(graph.labels.astype(np.int16)).to(device),
            arcs=torch.from_numpy(arcs).to(device),
            gains=torch.from_numpy(gains).to(device),
            eps_words=torch.from_numpy(order.words).to(device),
            kinds=kinds,
            finals=torch.from_numpy(np.array(graph.finals)).to(device),
            num_levels=order.num_levels,
            max_gain=float(gains.max()),
            max_eps_words=int(order.words.max()),
        )


def node_kinds(graph: Graph, order: EpsilonOrder) -> npt.NDArray[np.int32]:
    """(S,): twice the epsilon level, plus 1 if epsilon arcs leave the node."""
    return 2 * order.level + (graph.first_label > graph.first_arc[:-1]).astype(np.int32)


def _smallest_weights(graph: Graph) -> npt.NDArray[np.float32]:
    """(S,): of each node's arcs with a label, 0 where there are none."""
    smallest = np.zeros(graph.num_nodes, np.float32)
    ends = graph.first_arc[1:]
    some = np.flatnonzero(ends > graph.first_label)
    if len(some):
        # Each second span lies between two nodes' labels and is thrown away.
        spans = np.stack((graph.first_label[some], ends[some]), axis=1).ravel()
        padded = np.append(graph.weights, np.float32(0.0))
        smallest[some] = np.minimum.reduceat(padded, spans)[::2]
    return smallest
