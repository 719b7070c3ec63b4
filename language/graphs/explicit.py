"""T ∘ LG: the CTC rule written into the arcs, for decoders that do not know it themselves.

A node of LG becomes a node *after blank* and one for each token that may have been heard last when
LG comes there. Composing with a transducer T, as Kaldi's recipes do, gives the same graph; but a
normal T has V² arcs, and T must let the disambiguation symbols pass in *every* one of its states.
Graves et al. 2006 has the rule; Laptev et al. 2021 (arXiv 2110.03098) the compact one, which lets a
token be said twice without a blank in between and needs far fewer arcs.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.decoder_kernels.graph.graph import EPSILON, MAX_NODES, ArcColumns, Graph

Wide = npt.NDArray[np.int64]
Rule = Literal["compact", "normal"]


def explicit_graph(graph: Graph, rule: Rule) -> Graph:
    """The explicit form of an implicit graph. Raises GraphSourceError if it would be too large."""
    product = _Product(graph, rule)
    return Graph.from_columns(
        product.arcs(),
        product.finals(),
        topology="explicit",
        vocab_size=graph.vocab_size,
        word_texts=graph.word_texts,
        start=product.start(),
        blank_id=graph.blank_id,
        unknown_cost=graph.unknown_cost,
        units_checksum=graph.units_checksum,
        small_lm=graph.small_lm,
    )


class _Product:
    """Pairs of a node and the label heard last (0: blank), as ``node * width + label``, sorted."""

    def __init__(self, graph: Graph, rule: Rule) -> None:
        self._graph = graph
        self._normal = rule == "normal"
        self._width = graph.vocab_size + 1
        self._pairs = self._reached()
        if len(self._pairs) > MAX_NODES:
            raise GraphSourceError(f"the explicit graph would have {len(self._pairs):,} nodes")
        self._heard = self._pairs % self._width

    def start(self) -> int:
        """The node after blank, before any token."""
        return int(self._numbers(np.array([self._graph.start * self._width]))[0])

    def finals(self) -> npt.NDArray[np.float32]:
        """Where LG may end; a compact graph gets there from within a token by an epsilon."""
        finals = self._graph.finals[self._pairs // self._width]
        if not self._normal:
            finals[self._heard != 0] = np.inf
        return finals

    def arcs(self) -> ArcColumns:
        """All arcs, in no order."""
        everywhere = np.arange(len(self._pairs))
        after_blank = everywhere[self._heard == 0]
        in_token = everywhere[self._heard != 0]
        blank = self._graph.blank_id + 1
        back = self._numbers(self._pairs[in_token] - self._heard[in_token])
        parts = [
            _wordless(after_blank, blank, after_blank),
            _wordless(in_token, self._heard[in_token], in_token),
            _wordless(in_token, blank if self._normal else EPSILON, back),
            self._walks(everywhere if self._normal else after_blank),
        ]
        return ArcColumns(*(np.concatenate([part[i] for part in parts]) for i in range(5)))

    def _walks(self, sources: Wide) -> tuple[npt.NDArray[np.number], ...]:
        """LG's own arcs: those with a label lead into its token, epsilons leave the label heard."""
        graph = self._graph
        nodes = self._pairs[sources] // self._width
        which, arcs = _fan_out(nodes, graph.first_arc[:-1], graph.first_arc[1:])
        sources, labels = sources[which], graph.labels[arcs].astype(np.int64)
        heard = np.where(labels == EPSILON, self._heard[sources], labels)
        kept = (labels == EPSILON) | (labels != self._heard[sources])
        pairs = graph.targets[arcs].astype(np.int64) * self._width + heard
        arcs = arcs[kept]
        targets = self._numbers(pairs[kept])
        return sources[kept], labels[kept], graph.words[arcs], graph.weights[arcs], targets

    def _reached(self) -> Wide:
        graph, width = self._graph, self._width
        spoken = graph.labels != EPSILON
        into_token = graph.targets[spoken].astype(np.int64) * width + graph.labels[spoken]
        pairs = np.union1d(np.arange(graph.num_nodes, dtype=np.int64) * width, into_token)
        fresh = pairs if self._normal else pairs[:0]
        while len(fresh):
            which, arcs = _fan_out(fresh // width, graph.first_arc[:-1], graph.first_label)
            ahead = graph.targets[arcs].astype(np.int64) * width + fresh[which] % width
            fresh = np.setdiff1d(ahead, pairs)
            pairs = np.union1d(pairs, fresh)
        return pairs

    def _numbers(self, pairs: Wide) -> Wide:
        return np.searchsorted(self._pairs, pairs)


def _wordless(sources: Wide, labels: Wide | int, targets: Wide) -> tuple[Wide, ...]:
    """Arcs that cost nothing and have no word."""
    nothing = np.zeros_like(sources)
    return sources, nothing + labels, nothing, nothing, targets


def _fan_out(
    nodes: Wide, first: npt.NDArray[np.int32], last: npt.NDArray[np.int32]
) -> tuple[Wide, Wide]:
    """All arcs ``first[n]`` to ``last[n]`` of the nodes: which of the nodes, which arc."""
    begin = first[nodes].astype(np.int64)
    counts = last[nodes] - begin
    which = np.repeat(np.arange(len(nodes)), counts)
    offset = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return which, begin[which] + offset
