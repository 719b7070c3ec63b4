"""What the words of a decoding graph cost without a history: the costs of their unigrams."""

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.graph.graph import EPSILON, Graph

MAX_PATH = 256
"""Arcs of a path to a word. Where costs are negative, a longer one might be cheaper without end."""

Costs = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


def unigram_costs(graph: Graph) -> Costs:
    """By word id, the cost (W,) of its cheapest path from the loop node; +inf where there is none.

    A path ends with the arc that outputs the word and has no other word, nor more than `MAX_PATH`
    arcs. A word that the loop node does not lead to costs what it costs at least, after any word or
    none. Where the graph does not name its loop node, the node is taken that most epsilon arcs
    enter: the one without a history, to which all others back off.
    """
    loop = graph.loop_node if graph.loop_node >= 0 else most_entered(graph)
    words = costs_from(graph, np.array([loop]))
    if np.isinf(words[1:]).any():
        ends = np.unique(graph.targets[graph.words > 0])
        anywhere = costs_from(graph, np.union1d(ends, [graph.start]))
        words = np.where(np.isinf(words), anywhere, words)
    return words


def most_entered(graph: Graph) -> int:
    """By epsilon arcs, or by any where the graph has none of those."""
    into = graph.targets[graph.labels == EPSILON]
    if not len(into):
        into = graph.targets
    return int(np.bincount(into, minlength=graph.num_nodes).argmax())


def costs_from(graph: Graph, sources: Indices) -> Costs:
    """By word id, the cost (W,) of the cheapest path to it from one of the nodes."""
    words = np.full(len(graph.word_texts), np.inf)
    nodes = np.full(graph.num_nodes, np.inf)
    nodes[sources] = 0.0
    cheaper = sources
    for _ in range(MAX_PATH):
        arcs, reached = _onward(graph, cheaper, nodes)
        ends = graph.words[arcs] > 0
        np.minimum.at(words, graph.words[arcs[ends]], reached[ends])
        targets = graph.targets[arcs[~ends]]
        before = nodes[targets]
        np.minimum.at(nodes, targets, reached[~ends])
        cheaper = np.unique(targets[nodes[targets] < before])
        if not len(cheaper):
            break
    return words


def _onward(graph: Graph, nodes: npt.NDArray[np.integer], costs: Costs) -> tuple[Indices, Costs]:
    """The arcs of these nodes, and what it costs to have gone along each."""
    starts = graph.first_arc[nodes].astype(np.int64)
    counts = graph.first_arc[nodes + 1] - starts
    shift = np.repeat(starts - (np.cumsum(counts) - counts), counts)
    arcs = np.arange(len(shift)) + shift
    return arcs, np.repeat(costs[nodes], counts) + graph.weights[arcs]
