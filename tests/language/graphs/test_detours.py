import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.language.graphs.detours import without_detours
from earshot.language.graphs.fst import Fst

Arc = tuple[int, int, int, float, int]


def fst_of(arcs: list[Arc], finals: dict[int, float], num_states: int) -> Fst:
    sources, ilabels, olabels, weights, targets = map(np.array, zip(*arcs, strict=True))
    costs = np.array([finals.get(state, math.inf) for state in range(num_states)])
    return Fst.from_columns(0, costs, sources, ilabels, olabels, weights.astype(float), targets)


def test_chains_of_epsilons_are_cut_short_and_their_costs_added() -> None:
    arcs = [(0, 1, 7, 0.5, 1), (1, 0, 0, 0.25, 2), (2, 0, 0, 1.0, 3), (3, 2, 0, 0.0, 0)]
    shorter, numbers = without_detours(fst_of(arcs, {3: 0.0}, 4), [])
    assert numbers.tolist() == [0, -1, -1, 1]
    assert shorter.weights.tolist() == [1.75, 0.0]
    assert shorter.targets.tolist() == [1, 0]
    assert shorter.olabels.tolist() == [7, 0]


@pytest.mark.parametrize(
    ("arcs", "finals", "kept"),
    [
        ([(0, 1, 0, 0.0, 1), (1, 0, 5, 0.0, 2)], {2: 0.0}, []),  # has a word
        ([(0, 1, 0, 0.0, 1), (1, 3, 0, 0.0, 2)], {2: 0.0}, []),  # has a label
        ([(0, 1, 0, 0.0, 1), (1, 0, 0, 0.0, 2)], {1: 0.0, 2: 0.0}, []),  # is final
        ([(0, 1, 0, 0.0, 1), (1, 0, 0, 0.0, 2), (1, 1, 0, 0.0, 2)], {2: 0.0}, []),  # has more arcs
        ([(0, 1, 0, 0.0, 1), (1, 0, 0, 0.0, 2)], {2: 0.0}, [1]),  # is to be kept
        ([(0, 0, 0, 0.0, 1), (1, 0, 1, 0.0, 2)], {2: 0.0}, []),  # is the start
    ],
)
def test_other_states_stay(arcs, finals, kept) -> None:
    shorter, numbers = without_detours(fst_of(arcs, finals, 3), kept)
    assert numbers.tolist() == [0, 1, 2]
    assert shorter.num_arcs == len(arcs)


def test_of_parallel_arcs_the_cheapest_stays() -> None:
    arcs = [(0, 1, 7, 0.5, 1), (0, 1, 7, 0.25, 2), (2, 0, 0, 0.125, 1), (0, 1, 8, 0.0, 1)]
    shorter, _ = without_detours(fst_of(arcs, {1: 0.0}, 3), [])
    assert sorted(zip(shorter.olabels.tolist(), shorter.weights.tolist(), strict=True)) == [
        (7, 0.375),
        (8, 0.0),
    ]


COSTS = st.integers(0, 8).map(lambda n: n / 8)


@given(data=st.data())
def test_costs_of_all_texts_stay(data: st.DataObject, texts_of_fst) -> None:
    states = data.draw(st.integers(1, 6))
    ahead = [
        (s, data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2)), s + 1)
        for s in range(states)
    ]
    arc = st.tuples(
        st.integers(0, states), st.integers(0, 2), st.integers(0, 2), st.integers(0, states)
    )
    more = [a for a in data.draw(st.lists(arc, max_size=4)) if a[1] or a[0] < a[3]]
    arcs = [(s, i, o, data.draw(COSTS), t) for s, i, o, t in ahead + more]
    fst = fst_of(arcs, {states: 0.5}, states + 1)
    shorter, _ = without_detours(fst, [])
    for length in range(4):
        for labels in itertools.product((1, 2), repeat=length):
            assert texts_of_fst(shorter, labels) == pytest.approx(texts_of_fst(fst, labels))
