"""What words cost without a history."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wfst_cases import graphs

from earshot.decoder_kernels.graph import word_costs
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.word_costs import unigram_costs


def graph(arcs: list[Arc], nodes: int, loop_node: int = 0) -> Graph:
    return Graph.from_arcs(
        arcs,
        {0: 0.0},
        nodes,
        topology="compact",
        vocab_size=4,
        word_texts=["<eps>", "a", "b", "c"],
        loop_node=loop_node,
    )


SPELLED = [
    Arc(0, 2, 0, 1.0, 1),
    Arc(1, 3, 1, 0.5, 3),  # word 1 by way of node 1
    Arc(0, 3, 1, 4.0, 3),  # and dearer at once
    Arc(1, 0, 0, 0.25, 2),
    Arc(2, 4, 2, 2.0, 3),  # word 2 behind an epsilon
    Arc(3, 0, 0, 0.0, 0),
    Arc(3, 2, 3, 0.0, 0),  # word 3 only follows others
]


def test_a_word_costs_what_its_cheapest_path_without_others_costs() -> None:
    assert unigram_costs(graph(SPELLED, 4)).tolist()[:3] == [math.inf, 1.5, 3.25]


def test_a_word_that_only_follows_others_costs_what_it_costs_there() -> None:
    assert unigram_costs(graph(SPELLED, 4))[3] == 0.0
    assert unigram_costs(graph([*SPELLED[:-1], Arc(3, 2, 3, 0.75, 0)], 4))[3] == 0.75


def test_a_word_that_no_path_leads_to_has_no_cost() -> None:
    assert unigram_costs(graph([Arc(0, 2, 1, 1.0, 0), Arc(1, 2, 2, 1.0, 0)], 2))[2] == math.inf


def test_a_cheaper_path_of_more_arcs_counts() -> None:
    arcs = [Arc(0, 2, 0, 5.0, 2), Arc(0, 2, 0, 1.0, 1), Arc(1, 2, 0, 1.0, 2), Arc(2, 3, 1, 1.0, 0)]
    assert unigram_costs(graph(arcs, 3))[1] == 3.0


def test_without_a_loop_node_that_counts_which_most_epsilon_arcs_enter() -> None:
    """Histories (nodes 1 to 3) back off to node 4; more arcs lead back to node 1."""
    backing_off = [Arc(node, 0, 0, 1.0, 4) for node in (1, 2, 3)]
    words = [Arc(node, 2, 1, 0.5, 1) for node in (0, 1, 2, 3)] + [Arc(4, 2, 1, 2.0, 1)]
    words += [Arc(4, 3, 2, 3.0, 2), Arc(4, 4, 3, 4.0, 3)]
    found = unigram_costs(graph(backing_off + words, 5, loop_node=-1))
    assert found.tolist() == [math.inf, 2.0, 3.0, 4.0]


def test_without_epsilon_arcs_that_counts_which_most_arcs_enter() -> None:
    arcs = [Arc(0, 2, 1, 9.0, 1), Arc(1, 2, 1, 2.0, 1), Arc(1, 3, 2, 3.0, 1)]
    assert unigram_costs(graph(arcs, 2, loop_node=-1)).tolist()[1:3] == [2.0, 3.0]


def test_a_circle_that_gains_is_walked_no_longer_than_a_path_may_be() -> None:
    arcs = [Arc(0, 2, 0, -1.0, 0), Arc(0, 3, 1, 0.0, 0)]
    assert unigram_costs(graph(arcs, 1))[1] == 1.0 - word_costs.MAX_PATH


@given(graphs(), st.integers(1, 5))
def test_costs_are_those_of_all_short_paths(graph: Graph, longest: int) -> None:
    loop = graph.loop_node if graph.loop_node >= 0 else most_entered(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_costs, "MAX_PATH", longest)
        found = unigram_costs(graph)
    from_loop = by_walking(graph, [loop], longest)
    ends = {int(graph.targets[arc]) for arc in range(graph.num_arcs) if graph.words[arc]}
    anywhere = by_walking(graph, [graph.start, *ends], longest)
    expected = [
        other if cost == math.inf else cost for cost, other in zip(from_loop, anywhere, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def most_entered(graph: Graph) -> int:
    """The lowest of those nodes that most epsilon arcs enter, or most arcs if there are none."""
    into = graph.targets[graph.labels == 0].tolist() or graph.targets.tolist()
    return max(range(graph.num_nodes), key=lambda node: (into.count(node), -node))


def by_walking(graph: Graph, sources: list[int], longest: int) -> list[float]:
    """By every path of no more arcs than that."""
    costs = [math.inf] * len(graph.word_texts)
    paths = dict.fromkeys(sources, 0.0)
    for _ in range(longest):
        further: dict[int, float] = {}
        for node, cost in paths.items():
            for arc in range(graph.first_arc[node], graph.first_arc[node + 1]):
                reached = cost + float(graph.weights[arc])
                word, target = int(graph.words[arc]), int(graph.targets[arc])
                if word:
                    costs[word] = min(costs[word], reached)
                else:
                    further[target] = min(further.get(target, math.inf), reached)
        paths = further
    return costs
