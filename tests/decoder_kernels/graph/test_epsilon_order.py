"""Levels and gains of epsilon arcs against a walk of every path."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from wfst_cases import compact_graph, graphs

from earshot.decoder_kernels.errors import InvalidGraph
from earshot.decoder_kernels.graph.epsilon_order import MAX_LEVELS, epsilon_order
from earshot.decoder_kernels.graph.graph import Arc, Graph


@dataclass(frozen=True)
class Walked:
    """What all epsilon paths from one node come to: nodes reached with arcs taken, gain, words."""

    reached: tuple[tuple[int, int], ...]
    gain: float
    words: int


def walk(graph: Graph, start: int) -> Walked:
    """Every path, one after the other."""
    stack, reached, gain, words = [(start, 0, 0.0, 0)], [], 0.0, 0
    while stack:
        node, length, cost, said = stack.pop()
        reached.append((node, length))
        gain, words = max(gain, -cost), max(words, said)
        for arc in range(graph.first_arc[node], graph.first_label[node]):
            word = int(graph.words[arc] != 0)
            weight = float(graph.weights[arc])
            stack.append((int(graph.targets[arc]), length + 1, cost + weight, said + word))
    return Walked(tuple(reached), gain, words)


def chain(length: int) -> Graph:
    """So many epsilon arcs, one behind the other."""
    arcs = [Arc(node, 0, 0, 0.5, node + 1) for node in range(length)]
    return compact_graph(arcs, length, [])


@given(graph=graphs())
@settings(deadline=None)
def test_levels_gains_and_words_are_those_of_all_paths(graph: Graph) -> None:
    order = epsilon_order(graph)
    longest = [0] * graph.num_nodes
    for node in range(graph.num_nodes):
        walked = walk(graph, node)
        for end, length in walked.reached:
            longest[end] = max(longest[end], length)
        assert order.gain[node] == pytest.approx(walked.gain)
        assert order.words[node] == walked.words
    assert order.level.tolist() == longest
    assert order.num_levels == max(longest) + 1


def test_so_many_epsilons_may_follow_one_another_and_no_more() -> None:
    assert epsilon_order(chain(MAX_LEVELS)).num_levels == MAX_LEVELS + 1
    with pytest.raises(InvalidGraph, match=f"more than {MAX_LEVELS} epsilon arcs"):
        epsilon_order(chain(MAX_LEVELS + 1))


def test_a_cycle_that_a_graph_may_have_is_none_that_can_be_searched() -> None:
    graph = compact_graph([Arc(0, 0, 0, 1.0, 1), Arc(1, 0, 0, 1.0, 0)], 1, [])
    with pytest.raises(InvalidGraph, match="epsilon arcs form a cycle"):
        epsilon_order(graph)
