"""LG of a TLG: the compact CTC topology taken out of the arcs, and left to the decoder.

`explicit` writes the topology into the arcs; recipes do it by composing with a transducer T. What
they make is two to three times as large, twice as slow to search, and has no place where a
request's OOV words could start. So where the arcs hold the whole compact topology (Laptev et al.
2021, arXiv 2110.03098: any token may be held, blank may be heard anywhere, nothing has to be) they
need not.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import NoCompactRule
from earshot.decoder_kernels.graph.graph import EPSILON, ArcColumns, Graph
from earshot.language.graphs.detours import MAX_ROUNDS, without_detours
from earshot.language.graphs.fst import Fst

Wide = npt.NDArray[np.int64]
RING = "epsilon arcs lead round and nowhere else"


def implicit_graph(graph: Graph) -> Graph:
    """The compact LG that says, at the same costs, what an explicit graph (TLG) says.

    But for one thing: where the explicit one may end before any token, and has no blank there, so
    may this one after blanks. Raises NoCompactRule if the arcs hold another rule than this, or
    none.
    """
    rule = _Rule(graph)
    for fault in rule.faults():
        raise NoCompactRule(fault)
    fst, _ = without_detours(_entered_at_once(rule.rest()), [])
    if (fst.targets < 0).any():
        raise NoCompactRule(RING)
    return Graph.from_columns(
        ArcColumns(fst.sources, fst.ilabels, fst.olabels, fst.weights, fst.targets),
        fst.finals,
        topology="compact",
        vocab_size=graph.vocab_size,
        word_texts=graph.word_texts,
        start=fst.start,
        blank_id=graph.blank_id,
        unknown_cost=graph.unknown_cost,
        units_checksum=graph.units_checksum,
        small_lm=graph.small_lm,
    )


class _Rule:
    """Which arcs of an explicit graph are only there for CTC's sake, and whether all of them are.

    A node *waits* where blank may be heard for any time at no cost; a *token node* is one where a
    token may be, the one it has ``heard``. (S,) each; 0 for no token.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.first_arc))
        idle = (graph.targets == self._sources) & (graph.labels != EPSILON)
        idle &= (graph.words == 0) & (graph.weights == 0)
        blank = graph.labels == graph.blank_id + 1
        self._holds = idle & ~blank
        self._waits = np.zeros(graph.num_nodes, bool)
        self._waits[self._sources[idle & blank]] = True
        self._heard = np.zeros(graph.num_nodes, np.int32)
        self._heard[self._sources[self._holds]] = graph.labels[self._holds]
        self._kept = ~idle

    def rest(self) -> Fst:
        """The graph that is left without the rule."""
        graph, kept = self._graph, self._kept
        return Fst.from_columns(
            graph.start,
            graph.finals,
            self._sources[kept],
            graph.labels[kept],
            graph.words[kept],
            graph.weights[kept],
            graph.targets[kept],
        )

    def faults(self) -> Iterator[str]:
        """The difference between the arcs and those of the rule."""
        graph, kept, heard, waits = self._graph, self._kept, self._heard, self._waits
        sources, targets = self._sources[kept], graph.targets[kept]
        labels = graph.labels[kept]
        spoken = labels != EPSILON
        if (labels == graph.blank_id + 1).any():
            yield "an arc with blank leads on, or has a cost"
        if np.count_nonzero(self._holds) != np.count_nonzero(heard) or (waits & (heard > 0)).any():
            yield "a node holds several units"
        if (heard[targets] != labels)[spoken].any():
            yield "a unit cannot be held"
        if (heard[graph.start] > 0) or self._held_unheard(sources, targets)[~spoken].any():
            yield "a unit can be held that was not heard"
        if not waits[sources][spoken].all():
            yield "a unit follows where blank cannot be heard"
        if self._ends_in_token(sources[~spoken], targets[~spoken]):
            yield "there is an end where blank cannot be heard"

    def _held_unheard(self, sources: Wide, targets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        ahead = self._heard[targets]
        unheard: npt.NDArray[np.bool_] = (ahead > 0) & (ahead != self._heard[sources])
        return unheard

    def _ends_in_token(self, sources: Wide, targets: npt.NDArray[np.int32]) -> bool:
        """Whether epsilons lead from a token to an end and past no node that waits."""
        within = self._heard > 0
        for _ in range(MAX_ROUNDS):
            further = within.copy()
            further[targets[within[sources]]] = True
            further &= ~self._waits
            if np.array_equal(further, within):
                break
            within = further
        else:
            return True
        return bool((within & np.isfinite(self._graph.finals)).any())


def _entered_at_once(fst: Fst) -> Fst:
    """The same costs, with nodes that only one free epsilon arc leads to made one with its source.

    A T with a state for the blanks before a token and another for those after it leaves such pairs.
    """
    states = np.arange(fst.num_states)
    entries = np.bincount(fst.targets, minlength=fst.num_states)
    free = (fst.ilabels == EPSILON) & (fst.olabels == 0) & (fst.weights == 0)
    free &= (entries[fst.targets] == 1) & (fst.targets != fst.start)
    into = states.copy()
    into[fst.targets[free]] = fst.sources[free]
    into = _followed(into)
    finals = fst.finals.copy()
    np.minimum.at(finals, into, fst.finals)
    stays, kept = into == states, ~free
    numbers = np.cumsum(stays) - 1
    return Fst.from_columns(
        int(numbers[fst.start]),
        finals[stays],
        numbers[into[fst.sources[kept]]],
        fst.ilabels[kept],
        fst.olabels[kept],
        fst.weights[kept],
        numbers[into[fst.targets[kept]]],
    )


def _followed(into: Wide) -> Wide:
    """For each node: where its chain begins. Raises NoCompactRule for rings."""
    for _ in range(MAX_ROUNDS):
        further = into[into]
        if np.array_equal(further, into):
            return into
        into = further
    raise NoCompactRule(RING)
