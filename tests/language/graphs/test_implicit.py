"""A compact rule taken out of the arcs leaves every text at its cost, whoever wrote it in."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.decoder_kernels.errors import NoCompactRule
from earshot.decoder_kernels.graph.graph import Arc, ArcColumns, Graph
from earshot.language.graphs.explicit import explicit_graph
from earshot.language.graphs.fst import Fst
from earshot.language.graphs.implicit import implicit_graph

BLANK, X, Y, SYMBOL = 1, 2, 3, 4  # labels: of three tokens, and one that disambiguates
TEXTS = ("<eps>", "a", "b")
Rows = list[tuple[int, int, int, float, int]]

TOKEN_LOOPS = [(1, X, 0, 0.0, 1), (2, Y, 0, 0.0, 2)]
TOKENS = [(0, BLANK, 0, 0.0, 0), (0, X, X, 0.0, 1), (0, Y, Y, 0.0, 2), *TOKEN_LOOPS]
BACK = [(1, 0, 0, 0.0, 0), (2, 0, 0, 0.0, 0)]


def passing(*states: int) -> Rows:
    return [(state, 0, SYMBOL, 0.0, state) for state in states]


ONE_STATE = [*TOKENS, *BACK, *passing(0)]
EVERYWHERE = [*TOKENS, *BACK, *passing(0, 1, 2)]
TOKENS_ONLY = [*TOKENS, *BACK, *passing(1, 2)]
# States 1 and 2 hold tokens; 0 ends, blanks come at 3 before tokens and at 4 after them.
AROUND = [
    (0, 0, 0, 0.0, 3), (3, BLANK, 0, 0.0, 3), (4, BLANK, 0, 0.0, 4), (4, 0, 0, 0.0, 0),
    (3, X, X, 0.0, 1), (3, Y, Y, 0.0, 2), *TOKEN_LOOPS, (1, 0, 0, 0.0, 4), (2, 0, 0, 0.0, 4),
]  # fmt: skip
TOPOLOGIES = {
    "one state": ONE_STATE,
    "symbols pass everywhere": EVERYWHERE,
    "symbols pass in tokens": TOKENS_ONLY,
    "blanks before and after": [*AROUND, *passing(0)],
    "blanks before and after, symbols pass in tokens": [*AROUND, *passing(1, 2)],
}
quick = settings(max_examples=150)


@st.composite
def grammars(draw: st.DrawFn) -> tuple[Rows, dict[int, float]]:
    """Arcs and finals of an LG of up to four states; its symbols lead on, never round."""
    states = draw(st.integers(1, 4))
    anywhere = st.integers(0, states - 1)
    costs = st.integers(0, 8).map(lambda n: n / 8)
    words = st.sampled_from([0, 0, 1, 2])
    spoken = draw(
        st.lists(st.tuples(anywhere, st.sampled_from([X, Y]), words, costs, anywhere), max_size=8)
    )
    ahead = [(s, t) for s in range(states) for t in range(s + 1, states)]
    silent = draw(st.lists(st.sampled_from(ahead), unique=True, max_size=3)) if ahead else []
    arcs = spoken + [(s, SYMBOL, 0, draw(costs), t) for s, t in silent]
    finals = draw(st.dictionaries(anywhere, costs, min_size=1))
    return arcs, finals


def fst_of(rows: Rows, finals: dict[int, float], states: int) -> Fst:
    columns = np.array(rows, np.float64).reshape(-1, 5).T
    costs = np.array([finals.get(state, math.inf) for state in range(states)])
    source, label, output, weight, target = columns
    return Fst.from_columns(
        0, costs, *(each.astype(int) for each in (source, label, output)), weight,
        target.astype(int),
    )  # fmt: skip


def graph_of(fst: Fst, topology: str = "explicit") -> Graph:
    labels = np.where(fst.ilabels == SYMBOL, 0, fst.ilabels)
    columns = ArcColumns(fst.sources, labels, fst.olabels, fst.weights, fst.targets)
    return Graph.from_columns(
        columns, fst.finals, topology=topology, vocab_size=3, word_texts=TEXTS, start=fst.start
    )


def composed(topology: Rows, grammar: Rows, finals: dict[int, float]) -> Graph:
    """T ∘ LG as OpenFst makes it: what can be reached, T ending in its state 0."""
    pairs = {(0, 0): 0}
    rows: Rows = []
    for t, g in (todo := [(0, 0)]):
        for _, label, output, _, after in (row for row in topology if row[0] == t):
            alone = [(0, 0.0, g)] if output == 0 else []
            both = [(w, c, to) for s, i, w, c, to in grammar if s == g and i == output != 0]
            for word, cost, ahead in alone + both:
                if (after, ahead) not in pairs:
                    pairs[after, ahead] = len(pairs)
                    todo.append((after, ahead))
                rows.append((pairs[t, g], label, word, cost, pairs[after, ahead]))
    ends = {number: finals[g] for (t, g), number in pairs.items() if t == 0 and g in finals}
    return graph_of(fst_of(rows, ends, len(pairs)))


def assert_same_texts(implicit: Graph, explicit: Graph, texts_of, frames_to_tokens) -> None:
    """Of all frames with something said; where nothing is, an implicit graph may be freer."""
    assert implicit.topology == "compact"
    for length in range(5):
        for frames in itertools.product(range(3), repeat=length):
            expected: dict[tuple[int, ...], float] = {}
            for tokens in frames_to_tokens(frames, "compact"):
                for words, cost in texts_of(implicit, tokens).items():
                    expected[words] = min(cost, expected.get(words, math.inf))
            if any(frames) or not length:
                assert texts_of(explicit, frames) == pytest.approx(expected, abs=1e-5)


@quick
@given(grammar=grammars())
def test_our_own_rule_is_taken_out(grammar, texts_of, frames_to_tokens) -> None:
    arcs, finals = grammar
    explicit = explicit_graph(graph_of(fst_of(arcs, finals, 4), "compact"), "compact")
    assert_same_texts(implicit_graph(explicit), explicit, texts_of, frames_to_tokens)


@quick
@given(grammar=grammars(), topology=st.sampled_from(sorted(TOPOLOGIES)))
def test_the_rules_of_recipes_are_taken_out(
    grammar, topology: str, texts_of, frames_to_tokens
) -> None:
    explicit = composed(TOPOLOGIES[topology], *grammar)
    assert_same_texts(implicit_graph(explicit), explicit, texts_of, frames_to_tokens)


def tlg(*changes: tuple[int, int, int, float, int], without: tuple[int, ...] = ()) -> Graph:
    """Of the word ``a``, said X, and ``b``, said Y, with rows left out and others put in."""
    lg = [(0, X, 1, 0.5, 0), (0, Y, 2, 0.25, 0)]
    arcs = composed(ONE_STATE, lg, {0: 0.0})
    rows = [row for i, row in enumerate(rows_of(arcs)) if i not in without]
    return Graph.from_arcs(
        [Arc(*row) for row in [*rows, *changes]],
        {0: 0.0}, 4, topology="explicit", vocab_size=3, word_texts=TEXTS,
    )  # fmt: skip


def rows_of(graph: Graph) -> Rows:
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.first_arc))
    columns = (sources, graph.labels, graph.words, graph.weights, graph.targets)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("topology", sorted(TOPOLOGIES))
def test_nothing_but_lg_is_left_of_any_rule(topology: str) -> None:
    lg = [(0, X, 1, 0.5, 0), (0, Y, 2, 0.25, 0)]
    graph = implicit_graph(composed(TOPOLOGIES[topology], lg, {0: 0.0}))
    assert rows_of(graph) == lg


def test_what_is_left_is_lg() -> None:
    assert rows_of(tlg()) == [
        (0, BLANK, 0, 0.0, 0), (0, X, 1, 0.5, 1), (0, Y, 2, 0.25, 2),
        (1, 0, 0, 0.0, 0), (1, X, 0, 0.0, 1), (2, 0, 0, 0.0, 0), (2, Y, 0, 0.0, 2),
    ]  # fmt: skip
    graph = implicit_graph(tlg())
    assert rows_of(graph)[:2] == [(0, X, 1, 0.5, 0), (0, Y, 2, 0.25, 0)]
    assert (graph.start, graph.finals[0], graph.blank_id) == (0, 0.0, 0)


@pytest.mark.parametrize(
    ("changes", "without", "fault"),
    [
        ([(1, BLANK, 0, 0.0, 0)], (), "an arc with blank leads on"),
        ([(0, BLANK, 0, 0.5, 0)], (0,), "an arc with blank leads on, or has a cost"),
        ([(1, Y, 0, 0.0, 1)], (), "a node holds several units"),
        ([(1, BLANK, 0, 0.0, 1)], (), "a node holds several units"),
        ([], (4,), "a unit cannot be held"),
        ([(1, X, 0, 0.5, 1)], (4,), "a unit cannot be held"),
        ([(1, X, 2, 0.0, 1)], (4,), "a unit cannot be held"),
        ([(0, 0, 0, 0.0, 1)], (), "a unit can be held that was not heard"),
        ([(2, 0, 0, 0.0, 1)], (), "a unit can be held that was not heard"),
        ([(1, Y, 2, 0.0, 2)], (), "a unit follows where blank cannot be heard"),
        ([], (0,), "a unit follows where blank cannot be heard"),
    ],
)
def test_another_rule_is_left_where_it_is(changes, without, fault: str) -> None:
    with pytest.raises(NoCompactRule, match=fault):
        implicit_graph(tlg(*changes, without=without))


def test_a_normal_rule_is_left_where_it_is() -> None:
    graph = implicit_graph(tlg())
    with pytest.raises(NoCompactRule, match="an arc with blank leads on"):
        implicit_graph(explicit_graph(graph, "normal"))


@pytest.mark.parametrize("last", [1, 3])
def test_an_end_right_after_a_token_is_left_where_it_is(last: int) -> None:
    rows = [*rows_of(tlg()), (1, 0, 0, 0.0, 3)]
    graph = Graph.from_arcs(
        [Arc(*row) for row in rows], {last: 0.0}, 4,
        topology="explicit", vocab_size=3, word_texts=TEXTS,
    )  # fmt: skip
    with pytest.raises(NoCompactRule, match="there is an end where blank cannot be heard"):
        implicit_graph(graph)


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_nodes_that_only_lead_round_do_no_harm(length: int, texts_of) -> None:
    ring = [Arc(4 + i, 0, 0, 0.0, 4 + (i + 1) % length) for i in range(length)]
    rows = [Arc(*row) for row in rows_of(tlg())]
    for way_in in ([], [Arc(0, 0, 0, 0.0, 4)]):
        graph = Graph.from_arcs(
            [*rows, *ring, *way_in], {0: 0.0}, 4 + length,
            topology="explicit", vocab_size=3, word_texts=TEXTS,
        )  # fmt: skip
        if length in (3, 5) and not way_in:
            with pytest.raises(NoCompactRule, match="lead round and nowhere else"):
                implicit_graph(graph)
        else:
            assert texts_of(implicit_graph(graph), (1, 2)) == {(1, 2): 0.75}
