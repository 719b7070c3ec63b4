"""Graphs that do not say where any word may start are looked through for the place."""

import pytest

from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.language.graphs.open_ended import open_ended

# A bigram of a (label 2) and b (label 3): both lead to a history each, which back off to node 0.
ARCS = [
    Arc(0, 2, 1, 0.5, 1), Arc(0, 3, 2, 1.5, 2), Arc(1, 3, 2, 0.25, 2),
    Arc(1, 0, 0, 0.125, 0), Arc(2, 0, 0, 0.0, 0), Arc(3, 2, 1, 0.25, 1), Arc(3, 0, 0, 0.5, 0),
]  # fmt: skip


def graph_of(arcs: list[Arc], topology: str = "compact", **rest) -> Graph:
    return Graph.from_arcs(
        arcs, {0: 0.0}, 4,
        topology=topology, vocab_size=3, word_texts=("<eps>", "a", "b", "never said"), start=3,
        **rest,
    )  # fmt: skip


@pytest.mark.parametrize("topology", ["compact", "normal"])
def test_words_hang_where_all_histories_back_off_to(topology: str) -> None:
    found = open_ended(graph_of(ARCS, topology))
    assert (found.loop_node, found.unknown_cost) == (0, 1.5)
    assert found.num_arcs == len(ARCS)


def test_a_place_where_some_word_cannot_start_is_none() -> None:
    assert open_ended(graph_of([arc for arc in ARCS if arc[:2] != (0, 3)])).loop_node == -1
    assert open_ended(graph_of([Arc(0, 2, 0, 0.5, 0)])).loop_node == -1


def test_what_is_named_and_what_takes_no_words_stays() -> None:
    named = graph_of(ARCS, loop_node=1, unknown_cost=9.0)
    explicit = graph_of(ARCS, "explicit")
    assert open_ended(named) is named
    assert open_ended(explicit) is explicit
