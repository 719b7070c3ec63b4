"""Word lattices: the oracle's alternatives, each once, with its cost; and what words weigh."""

import math
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from results_oracle.tables import Table, table_of
from search_company import posteriors
from wfst_cases import SMALL, graphs, options, tables
from wfst_oracle import WfstOracle

from earshot.decoder_kernels.errors import InvalidConfig
from earshot.decoder_kernels.graph.wfst_options import FRACTION_BITS, WfstOptions, nats
from earshot.decoder_kernels.wfst.wfst_confidence import WordConfidences, arc_posteriors
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

CASES = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SLOT = torch.tensor([0])
NAT = 1 << FRACTION_BITS
MOST_PATHS = 2000

Path = tuple[float, list[int]]


@st.composite
def searched(draw: st.DrawFn, device: torch.device) -> tuple[WfstSearch, WfstOracle, WfstOptions]:
    """A stream that kernel and oracle have searched."""
    graph, chosen = draw(graphs()), draw(options())
    table = draw(tables(graph))
    frames = draw(posteriors(draw(st.integers(0, 6)), graph.vocab_size))
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=1000, **SMALL), 1, device)
    search.set_options(0, chosen)
    search.set_boost(0, table)
    search.advance(SLOT, frames[None].to(device), torch.tensor([len(frames)]))
    oracle = WfstOracle(graph, chosen, table)
    oracle.advance(frames.tolist())
    return search, oracle, chosen


def paths(lattice: WordLattice, most: float = math.inf) -> Iterator[Path]:
    """Every path with its cost and arcs, up to a cost, in any order. Costs of arcs are >= 0."""
    stack: list[tuple[int, float, list[int]]] = [(0, 0.0, [])]
    while stack:
        node, cost, arcs = stack.pop()
        if node == lattice.num_nodes - 1:
            yield cost, arcs
        for arc in np.flatnonzero(lattice.sources == node).tolist():
            total = cost + float(lattice.costs[arc])
            if total <= most:
                stack.append((int(lattice.targets[arc]), total, [*arcs, arc]))


def words_of(lattice: WordLattice, arcs: list[int]) -> tuple[int, ...]:
    return tuple(lattice.words[arcs[1:]].tolist())


@given(data=st.data())
@CASES
def test_paths_are_the_alternatives_of_the_oracle(
    data: st.DataObject, device: torch.device
) -> None:
    search, oracle, chosen = data.draw(searched(device))
    for finalize in (False, True):
        [lattice] = search.lattices([0], finalize=[finalize])
        assert lattice is not None
        expected = [(nats(cost), words) for cost, words in oracle.nbest(finalize)]
        limit = expected[0][0] + chosen.lattice_beam
        found = [(cost, words_of(lattice, arcs)) for cost, arcs in paths(lattice, limit)]
        assert sorted(found) == expected
        assert lattice.beam == chosen.lattice_beam
        assert lattice.reached_final == oracle.ends(finalize)[1]


@given(data=st.data())
@CASES
def test_a_lattice_has_one_beginning_one_end_and_times_in_order(
    data: st.DataObject, device: torch.device
) -> None:
    search, _, _ = data.draw(searched(device))
    [lattice] = search.lattices([0])
    assert lattice is not None
    assert np.all(lattice.sources < lattice.targets)
    assert np.all(lattice.frames[lattice.sources] <= lattice.frames[lattice.targets])
    assert set(range(1, lattice.num_nodes)) == set(lattice.targets.tolist())
    assert set(range(lattice.num_nodes - 1)) == set(lattice.sources.tolist())
    assert np.array_equal(lattice.words == 0, lattice.sources == 0)
    [best] = search.best(SLOT, finalize=True)
    times = {
        words_of(lattice, arcs): lattice.frames[lattice.sources[arcs[1:]]].tolist()
        for _, arcs in paths(lattice, best.hypothesis.cost)
    }
    assert times[best.hypothesis.words] == list(best.hypothesis.frames)


def shares(lattice: WordLattice, scale: float) -> list[tuple[float, list[int]]]:
    """The posterior probability of every path, by listing them all."""
    listed = list(paths(lattice))
    least = min(cost for cost, _ in listed)
    weights = [math.exp(-scale * (cost - least)) for cost, _ in listed]
    return [(w / sum(weights), arcs) for w, (_, arcs) in zip(weights, listed, strict=True)]


def span(lattice: WordLattice, arc: int) -> range:
    start, stop = lattice.frames[[lattice.sources[arc], lattice.targets[arc]]].tolist()
    return range(start, max(stop, start + 1))


@given(data=st.data(), scale=st.sampled_from([0.1, 0.5, 1.0, 3.0]))
@CASES
def test_posteriors_are_those_of_all_paths_listed(
    data: st.DataObject, scale: float, device: torch.device
) -> None:
    [lattice] = data.draw(searched(device))[0].lattices([0])
    assert lattice is not None
    if sum(1 for _ in zip(paths(lattice), range(MOST_PATHS), strict=False)) == MOST_PATHS:
        return
    by_arc = np.zeros(lattice.num_arcs)
    by_word_and_frame: dict[tuple[int, int], float] = defaultdict(float)
    for share, arcs in shares(lattice, scale):
        for arc in arcs:
            by_arc[arc] += share
            for frame in span(lattice, arc):
                by_word_and_frame[int(lattice.words[arc]), frame] += share
    assert arc_posteriors(lattice, scale) == pytest.approx(by_arc, abs=1e-9)
    for _, arcs in shares(lattice, scale)[:20]:
        words = words_of(lattice, arcs)
        frames = lattice.frames[lattice.sources[arcs[1:]]].tolist()
        expected = [
            max(by_word_and_frame[word, frame] for frame in span(lattice, arc))
            for word, arc in zip(words, arcs[1:], strict=True)
        ]
        confidences = WordConfidences.of_lattice(lattice, scale).of(words, frames)
        assert confidences == pytest.approx(np.minimum(expected, 1.0), abs=1e-9)
        assert all(0.0 <= each <= 1.0 for each in confidences)


def diamond() -> WordLattice:
    """After 2 frames word 1, with 3/4 of the weight, or word 2; from frame 5 word 3; 8 frames."""
    return WordLattice(
        frames=np.array([0, 2, 5, 8], dtype=np.int32),
        sources=np.array([0, 1, 1, 2], dtype=np.int32),
        targets=np.array([1, 2, 2, 3], dtype=np.int32),
        words=np.array([0, 1, 2, 3], dtype=np.int32),
        costs=np.array([7.0, 0.0, math.log(3.0), 0.0]),
        beam=8.0,
        reached_final=True,
    )


def test_known_confidences() -> None:
    sure = WordConfidences.of_lattice(diamond(), 1.0)
    assert sure.of([1, 3], [2, 5]) == pytest.approx([0.75, 1.0])
    assert sure.of([2, 3], [3, 6]) == pytest.approx([0.25, 1.0])
    assert sure.of([], []) == []
    assert WordConfidences.of_lattice(diamond(), 1e-9).of([1], [2]) == pytest.approx([0.5])
    covered = WordConfidences.of_lattice(diamond(), 1.0, 0.8)
    assert covered.of([1, 3], [2, 5]) == pytest.approx([0.6, 0.8])


def test_a_word_that_no_path_has_at_its_time_has_no_confidence() -> None:
    assert WordConfidences.of_lattice(diamond(), 1.0).of([4, 1], [2, 5]) == [0.0, 0.0]


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_scales_that_make_no_posteriors_are_refused(scale: float) -> None:
    with pytest.raises(InvalidConfig, match="posterior_scale"):
        arc_posteriors(diamond(), scale)


@pytest.mark.parametrize("coverage", [0.0, 1.1, math.nan])
def test_coverages_that_are_no_shares_are_refused(coverage: float) -> None:
    with pytest.raises(InvalidConfig, match="coverage"):
        WordConfidences.of_lattice(diamond(), 1.0, coverage)


def test_ways_that_differ_in_times_alone_are_one_path() -> None:
    """Word 1 left the graph in frame 3 or, a little dearer, in frame 4; then word 2 follows."""
    backpointers = [
        (-1, 3, 1, 0, 0),
        (-1, 4, 1, 0, 0),
        (0, 6, 2, 0, 0),
        (1, 7, 2, 0, 0),
        (2, 3, 0, 0, NAT),
    ]
    lattice = table_of(backpointers, [(5 * NAT, 4)], num_frames=9).lattice(8 * NAT)
    assert lattice is not None
    assert lattice.words.tolist() == [0, 1, 2]
    assert lattice.frames.tolist() == [0, 3, 6, 9]
    assert lattice.costs.sum() == 5.0


def test_lattices_keep_their_cost_where_a_history_is_spelled_in_many_ways() -> None:
    """Each word is remembered in two backpointers; so 2^40 ways through them say the same."""
    backpointers, last = [], -1
    for step in range(40):
        at = len(backpointers)
        backpointers += [(last, step, 1, 0, 0), (last, step, 1, 0, 0), (at, at + 1, 0, 0, 0)]
        last = at + 2
    lattice = table_of(backpointers, [(0, last)], num_frames=40).lattice(8 * NAT)
    assert lattice is not None
    assert lattice.num_arcs == 41


def alternatives(count: int) -> Table:
    """Backpointers of so many words, each 1 or, for one to eight nats more, 2."""
    backpointers, last = [], -1
    for step in range(count):
        at = len(backpointers)
        backpointers += [
            (last, step, 1, 0, 0),
            (last, step, 2, 0, 0),
            (at, at + 1, 0, 0, (step % 8 + 1) * NAT),
        ]
        last = at + 2
    return table_of(backpointers, [(0, last)], num_frames=count)


def test_a_beam_that_takes_too_long_is_narrowed_and_the_lattice_says_so() -> None:
    table = alternatives(30)
    full = table.lattice(8 * NAT)
    assert full is not None
    assert full.beam == 8.0
    narrow = table.lattice(8 * NAT, max_steps=3500)
    assert narrow is not None
    assert 1.0 < narrow.beam < 8.0
    found = {words_of(narrow, arcs) for _, arcs in paths(narrow, narrow.beam)}
    assert found == {words_of(full, arcs) for _, arcs in paths(full, narrow.beam)}
    assert table.lattice(8 * NAT, max_steps=1000) is None
