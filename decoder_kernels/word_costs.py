"""What the words of a decoding graph cost without a history: the costs of their unigrams."""

import numpy as np
import numpy.typing as npt

from decoder_kernels.graph import Graph

MAX_PATH = 256
"""Arcs of a path to a word. Where costs are negative, a longer one might be cheaper without end."""

Costs = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


def unigram_costs(graph: Graph) -> Costs:
    """By word id, the cost (W,) of its cheapest path from the loop node; +inf where there is none.

    A path ends with the arc that outputs the word and has no other word, nor more than `MAX_PATH`
    arcs. A graph that does not say where its loop node is has no such paths.
    """
    words = np.full(len(graph.word_texts), np.inf)
    if graph.loop_node < 0:
        return words
    nodes = np.full(graph.num_nodes, np.inf)
    nodes[graph.loop_node] = 0.0
    cheaper = np.array([graph.loop_node])
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
