from dataclasses import replace

import numpy as np
import pytest

from earshot.decoder_kernels.errors import (
    GraphError,
    GraphMismatch,
    InvalidGraph,
    UnsafeEpsilonCycle,
)
from earshot.decoder_kernels.graph.graph import Arc, Graph, units_checksum

TEXTS = ("<eps>", "a", "b")
ARCS = (
    Arc(1, 3, 0, 0.25, 0),
    Arc(0, 2, 1, 0.5, 1),
    Arc(0, 0, 0, 1.5, 1),
    Arc(1, 2, 2, -1.0, 1),
)


def graph_of(*arcs: Arc, num_nodes: int = 2, **changes) -> Graph:
    rest = {"topology": "compact", "vocab_size": 3, "word_texts": TEXTS, **changes}
    return Graph.from_arcs(arcs, {num_nodes - 1: 0.0}, num_nodes, **rest)


def test_arcs_are_sorted_by_node_and_label_with_epsilon_first() -> None:
    graph = graph_of(*ARCS)
    assert graph.first_arc.tolist() == [0, 2, 4]
    assert graph.first_label.tolist() == [1, 2]
    assert graph.labels.tolist() == [0, 2, 2, 3]
    assert graph.words.tolist() == [0, 1, 2, 0]
    assert graph.weights.tolist() == [1.5, 0.5, -1.0, 0.25]
    assert graph.targets.tolist() == [1, 1, 1, 0]
    assert graph.finals.tolist() == [np.inf, 0.0]
    assert (graph.num_nodes, graph.num_arcs) == (2, 4)


def test_arrays_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        graph_of(*ARCS).labels[0] = 1


def test_a_graph_may_have_nodes_and_no_arcs() -> None:
    assert graph_of().num_arcs == 0


@pytest.mark.parametrize(
    ("arc", "complaint"),
    [
        (Arc(0, 5, 0, 0.0, 1), "labels: 0 to 5"),
        (Arc(0, -1, 0, 0.0, 1), "labels: -1"),
        (Arc(0, 2, 3, 0.0, 1), "words: 0 to 3"),
        (Arc(0, 2, 0, 0.0, 2), "targets: 0 to 2"),
        (Arc(2, 2, 0, 0.0, 1), "not among the 2"),
        (Arc(-1, 2, 0, 0.0, 1), "below 0"),
        (Arc(0, 2, 0, float("nan"), 1), "not finite"),
        (Arc(0, 2, 0, float("inf"), 1), "not finite"),
        (Arc(0, 1, 0, 0.0, 1), "blank is a label"),
    ],
)
def test_an_arc_that_leads_nowhere_is_refused(arc: Arc, complaint: str) -> None:
    with pytest.raises(InvalidGraph, match=complaint):
        graph_of(*ARCS, arc)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"topology": "circular"}, "no topology 'circular'"),
        ({"vocab_size": 0}, "0 tokens"),
        ({"vocab_size": 1 << 14}, "16384 tokens"),
        ({"blank_id": 3}, "blank 3"),
        ({"start": 2}, "start 2"),
        ({"loop_node": -2}, "loop -2"),
        ({"unknown_cost": float("nan")}, "unknown word"),
        ({"unknown_cost": -1e300}, "unknown word"),
        ({"word_texts": ()}, "word 0"),
        ({"word_texts": ("a", "b", "c")}, "word 0"),
        ({"finals": np.zeros(3, np.float32)}, "first_arc"),
        ({"finals": np.array([0, np.nan], np.float32)}, "no number"),
        ({"finals": np.array([0, -np.inf], np.float32)}, "no number"),
        ({"words": np.array([0, 1, 2], np.int32)}, "words is int32"),
        ({"labels": np.array([2, 0, 2, 3], np.int32)}, "not sorted"),
        ({"weights": np.zeros(4)}, "weights is float64"),
        ({"first_arc": np.array([0, 5, 4], np.int32)}, "do not follow"),
        ({"first_arc": np.array([0, 2, 5], np.int32)}, "do not follow"),
        ({"first_arc": np.array([1, 2, 4], np.int32)}, "do not follow"),
        ({"first_label": np.array([3, 2], np.int32)}, "first label"),
        ({"first_label": np.array([0, 2], np.int32)}, "where its epsilon arcs end"),
    ],
)
def test_arrays_that_contradict_each_other_are_refused(change, complaint: str) -> None:
    with pytest.raises(InvalidGraph, match=complaint):
        replace(graph_of(*ARCS), **change)


def epsilon(source: int, target: int, weight: float = 0.5, word: int = 0) -> Arc:
    return Arc(source, 0, word, weight, target)


@pytest.mark.parametrize(
    "arcs",
    [
        (epsilon(0, 0, -0.5),),
        (epsilon(0, 0, word=1),),
        (epsilon(0, 1), epsilon(1, 2, -0.1), epsilon(2, 0)),
        (epsilon(0, 1), epsilon(1, 2), epsilon(2, 1, word=2)),
        (*(epsilon(i, i + 1) for i in range(200)), epsilon(200, 100, -1.0)),
    ],
)
def test_a_cycle_of_epsilons_that_could_gain_is_refused(arcs: tuple[Arc, ...]) -> None:
    with pytest.raises(UnsafeEpsilonCycle, match="cycle of epsilon arcs"):
        graph_of(*arcs, num_nodes=201)


@pytest.mark.parametrize(
    "arcs",
    [
        (epsilon(0, 1), epsilon(1, 0, 0.0)),
        (epsilon(0, 1, -1.0), epsilon(1, 2, -1.0, word=1), epsilon(0, 2, -3.0)),
        # Between two cycles, but on neither.
        (epsilon(0, 0), epsilon(0, 1, -1.0, word=1), epsilon(1, 2, -1.0), epsilon(2, 2)),
        # Longer than what peeling by rounds takes away.
        tuple(epsilon(i, i + 1, -1.0) for i in range(200)),
        # A token on the way round.
        (epsilon(0, 1, -1.0), Arc(1, 2, 1, -1.0, 0)),
    ],
)
def test_other_epsilons_are_accepted(arcs: tuple[Arc, ...]) -> None:
    assert graph_of(*arcs, num_nodes=201).num_arcs == len(arcs)


@pytest.mark.parametrize(
    ("arc", "what"),
    [
        (Arc(0, 2**32 + 1, 1, 0.0, 0), "label"),
        (Arc(0, 1, 2**32 + 1, 0.0, 0), "word"),
        (Arc(0, 1, 1, 0.0, 2**32), "node"),
    ],
)
def test_numbers_too_large_to_be_stored_do_not_become_others(arc: Arc, what: str) -> None:
    with pytest.raises(InvalidGraph, match=f"429496729. is the number of no {what}"):
        graph_of(arc)


def test_graph_errors_have_one_base() -> None:
    assert issubclass(InvalidGraph, GraphError)
    assert issubclass(UnsafeEpsilonCycle, GraphError)


def test_checksum_tells_lists_of_units_apart() -> None:
    assert units_checksum(["a", "b"]) == units_checksum(("a", "b"))
    assert units_checksum(["a", "b"]) != units_checksum(["b", "a"])
    assert len(units_checksum([])) == 32


def test_a_graph_for_other_units_is_refused() -> None:
    graph = graph_of(*ARCS, units_checksum=units_checksum(["-", "a", "b"]))
    graph.require_units(["-", "a", "b"])
    with pytest.raises(GraphMismatch, match="other units"):
        graph.require_units(["-", "b", "a"])
    with pytest.raises(GraphMismatch, match="built for 3 units; the model has 4"):
        graph.require_units(["-", "a", "b", "c"])
    graph_of(*ARCS).require_units(["-", "b", "a"])  # it does not know for which it was built
