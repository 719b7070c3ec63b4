"""Which graphs are refused for their epsilon cycles: by walking every way back."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wfst_cases import compact_graph

from earshot.decoder_kernels.errors import UnsafeEpsilonCycle
from earshot.decoder_kernels.graph.epsilon_cycles import PEELING_ROUNDS
from earshot.decoder_kernels.graph.graph import Arc, Graph

NODES = 7
LONG = 20_000
"""Nodes of a cycle that no recursion would get round."""


def graph_of(arcs: Sequence[Arc], num_nodes: int = NODES) -> Graph:
    return compact_graph(arcs, num_nodes - 1, ["a"])


@st.composite
def epsilon_arcs(draw: st.DrawFn) -> list[Arc]:
    """In any direction; few of them have a word or gain."""
    node = st.integers(0, NODES - 1)
    label, word = st.sampled_from([0, 0, 0, 2]), st.sampled_from([0] * 7 + [1])
    weight = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, -0.5])
    return draw(st.lists(st.builds(Arc, node, label, word, weight, node), max_size=14))


def reaches(arcs: Sequence[Arc], start: int, end: int) -> bool:
    """Whether epsilon arcs lead from one node to the other."""
    seen, open_nodes = {start}, [start]
    while open_nodes:
        node = open_nodes.pop()
        new = {a.target for a in arcs if a.label == 0 and a.source == node} - seen
        seen |= new
        open_nodes += new
    return end in seen


def is_safe(arcs: Sequence[Arc]) -> bool:
    """Whether no epsilon arc that gains or has a word leads back to where it starts."""
    tempting = [arc for arc in arcs if arc.label == 0 and (arc.weight < 0 or arc.word)]
    return not any(reaches(arcs, arc.target, arc.source) for arc in tempting)


@given(arcs=epsilon_arcs())
@settings(deadline=None, max_examples=300)
def test_a_graph_is_refused_for_just_the_cycles_that_could_gain(arcs: list[Arc]) -> None:
    if is_safe(arcs):
        graph_of(arcs)
    else:
        with pytest.raises(UnsafeEpsilonCycle, match="lies on a cycle of epsilon arcs"):
            graph_of(arcs)


@pytest.mark.parametrize("gain", [0.0, 1.0])
def test_a_cycle_may_be_long(gain: float) -> None:
    arcs = [Arc(node, 0, 0, 1.0, (node + 1) % LONG) for node in range(LONG - 1)]
    arcs.append(Arc(LONG - 1, 0, 0, -gain, 0))
    if gain:
        with pytest.raises(UnsafeEpsilonCycle, match=f"from node {LONG - 1} to 0"):
            graph_of(arcs, LONG)
    else:
        graph_of(arcs, LONG)


def test_a_chain_longer_than_is_peeled_is_no_cycle() -> None:
    length = 4 * PEELING_ROUNDS
    graph_of([Arc(node, 0, 1, -1.0, node + 1) for node in range(length)], length + 1)
