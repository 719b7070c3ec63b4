"""Where the words that a request brings along hang in a graph that does not name the place."""

from dataclasses import replace

import numpy as np

from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.word_costs import costs_from, most_entered


def open_ended(graph: Graph) -> Graph:
    """The graph with its loop node named, if it has one: then requests may bring words.

    That is the node which most epsilon arcs enter, the history that all others back off to, if
    every word may start there that is in the graph at all. A new word costs as much as the rarest.
    """
    if graph.topology == "explicit" or graph.loop_node >= 0:
        return graph
    node = most_entered(graph)
    costs = costs_from(graph, np.array([node]))[np.unique(graph.words[graph.words > 0])]
    if not len(costs) or not np.isfinite(costs).all():
        return graph
    return replace(graph, loop_node=node, unknown_cost=float(costs.max()))
