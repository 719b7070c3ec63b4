"""How much a search has to look at: tokens, arcs, and the least memory traffic of a frame."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.wfst.ours import Batch, OurSearch
from benchmarks.wfst.posteriors import Utterance
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_key import NODE_SHIFT
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions

SECTOR_BYTES = 32  # the least that a GPU reads from its memory
LABEL_BYTES = 2
TOKEN_BYTES = 20  # key 8, cost 8, history 4

Nodes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Load:
    """Means per frame and stream.

    ``arcs`` with a label leave the tokens' nodes: a search that skips none tests them all.
    ``traffic``: bytes between memory and chip that no search can save if nothing of the frame
    before is still in a cache. Of each node with tokens its row and its labels, for each token
    the arc that led to it, all in sectors; and each token written once and read once.
    """

    tokens: float
    arcs: float
    traffic: float

    @classmethod
    def of_nodes(cls, graph: Graph, nodes: Nodes) -> "Load":
        """Of one frame, by the nodes of its tokens."""
        degrees = graph.first_arc[nodes + 1] - graph.first_label[nodes]
        distinct = np.unique(nodes)
        labels = (graph.first_arc[distinct + 1] - graph.first_label[distinct]) * LABEL_BYTES
        sectors = len(distinct) + int(np.ceil(labels / SECTOR_BYTES).sum()) + len(nodes)
        traffic = sectors * SECTOR_BYTES + 2 * TOKEN_BYTES * len(nodes)
        return cls(float(len(nodes)), float(degrees.sum()), float(traffic))


def mean_load(
    graph: Graph, utterances: Sequence[Utterance], options: WfstOptions, every: int = 8
) -> Load:
    """Of a search on the CPU, looked at after each ``every`` frames."""
    ours = OurSearch(graph, options)
    seen: list[Load] = []
    for utterance in utterances:
        ours.start()
        for chunk in Batch.of([torch.from_numpy(utterance.log_probs)]).chunks(every):
            ours.advance(chunk)
            seen.append(Load.of_nodes(graph, token_nodes(ours)))
    columns = zip(*((each.tokens, each.arcs, each.traffic) for each in seen), strict=True)
    return Load(*(float(np.mean(column)) for column in columns))


def token_nodes(ours: OurSearch) -> Nodes:
    """The node of each token in the first slot."""
    # No user of the search needs its keys: only a measurement looks inside.
    memory, [at] = ours.search._memory.records(torch.tensor([0]), [], ours.search._lanes.launch())
    keys = memory.numpy()[0, at.keys :][: 8 * ours.tokens()].view(np.uint64)
    nodes: Nodes = (keys >> np.uint64(NODE_SHIFT)).astype(np.int64)
    return nodes
