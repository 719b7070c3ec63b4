"""Lists, lattices and confidences are those of plain Python, steps and all."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
import torch
from boost_walk import BoostWalk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from results_oracle import confidence
from results_oracle.histories import TooManyHistories
from results_oracle.lattice import word_lattice
from results_oracle.nbest import BackpointerWalk
from results_oracle.slot import SlotOracle
from results_oracle.tables import Table, tables
from search_company import posteriors
from wfst_cases import SMALL, compact_graph, graphs, options
from wfst_cases import tables as boost_tables

from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.graph.graph import Arc
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, fixed, nats
from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

CASES = settings(deadline=None, max_examples=max(100, settings().max_examples))
SEARCHES = settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
BEAMS = st.sampled_from([0, 1, 3 << 20, 1 << 23, 1 << 24, 8 << 24])
STEPS = st.sampled_from([100, 1000, 2000, 4000, 20_000, 200_000])

Found = list[tuple[int, tuple[int, ...], tuple[int, ...]]]


def list_of_oracle(table: Table, beam: int, n: int, max_steps: int) -> Found | None:
    histories = np.array([end for _, end in table.ends], np.int32)
    costs = [(cost, token) for token, (cost, _) in enumerate(table.ends)]
    limit = min(cost for cost, _ in costs) + beam
    found: Found = []
    try:
        for each in BackpointerWalk(table.backpointers, histories).ranked(costs, limit, max_steps):
            words, frames = zip(*each.words, strict=True) if each.words else ((), ())
            found.append((each.cost, words, frames))
            if len(found) == n:
                break
    except TooManyHistories:
        return None
    return found


def lattice_of_oracle(table: Table, beam: int, max_steps: int) -> WordLattice | None:
    try:
        return word_lattice(
            table.backpointers,
            table.ends,
            table.num_frames,
            beam,
            reached_final=False,
            max_steps=max_steps,
        )
    except TooManyHistories:
        return None


def assert_same_lattice(found: WordLattice | None, expected: WordLattice | None) -> None:
    assert (found is None) == (expected is None)
    if found is None or expected is None:
        return
    for field in dataclasses.fields(WordLattice):
        ours, theirs = (np.asarray(getattr(each, field.name)) for each in (found, expected))
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist(), field.name


@given(table=tables(), beam=BEAMS, n=st.integers(1, 200), max_steps=STEPS)
@CASES
def test_a_list_is_that_of_the_oracle(table: Table, beam: int, n: int, max_steps: int) -> None:
    found = table.nbest(beam, n, max_steps)
    expected = list_of_oracle(table, beam, n, max_steps)
    if found is None or expected is None:
        assert found is expected
        return
    assert [(cost, words, frames) for words, frames, cost, _, _ in found] == expected


@given(table=tables(), beam=BEAMS, max_steps=STEPS)
@CASES
def test_a_lattice_is_that_of_the_oracle(table: Table, beam: int, max_steps: int) -> None:
    assert_same_lattice(table.lattice(beam, max_steps), lattice_of_oracle(table, beam, max_steps))


@given(
    table=tables(),
    beam=BEAMS,
    scale=st.sampled_from([0.1, 0.5, 1.0]),
    said=st.lists(st.tuples(st.integers(1, 12), st.integers(0, 22)), max_size=6),
)
@CASES
def test_confidences_are_those_of_the_oracle(
    table: Table, beam: int, scale: float, said: list[tuple[int, int]]
) -> None:
    lattice = lattice_of_oracle(table, beam, 20_000)
    if lattice is None or table.lattice(beam).beam != lattice.beam:
        return
    words = [word for word, _ in said]
    frames = sorted(frame for _, frame in said)
    sure = table.confidences(beam, scale, 0.75)
    assert sure is not None
    expected = confidence.WordConfidences(lattice, scale, 0.75).of(words, frames)
    assert sure.of(words, frames) == pytest.approx(expected.tolist(), abs=1e-12)


@given(data=st.data())
@SEARCHES
def test_a_search_answers_as_the_oracle_reads_its_slots(
    data: st.DataObject, device: torch.device
) -> None:
    """All slots at once, each with its own options and boosts."""
    graph, finalize = (
        data.draw(graphs()),
        data.draw(st.lists(st.booleans(), min_size=3, max_size=3)),
    )
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=1000, **SMALL), 3, device)
    oracles = []
    for slot in range(3):
        chosen, table = data.draw(options()), data.draw(boost_tables(graph))
        search.set_options(slot, chosen)
        search.set_boost(slot, table)
        frames = data.draw(posteriors(data.draw(st.integers(0, 6)), graph.vocab_size))
        slots = torch.tensor([slot])
        search.advance(slots, frames[None].to(device), torch.tensor([len(frames)]))
        oracles.append(SlotOracle(search, slot, chosen, table))
    listed = search.nbest([2, 0, 1], 40, finalize=finalize)
    drawn = search.lattices([2, 0, 1], finalize=finalize)
    for slot, ended, found, lattice in zip([2, 0, 1], finalize, listed, drawn, strict=True):
        assert found is not None
        expected = oracles[slot].nbest(40, finalize=ended)
        assert [(one.cost, tuple(zip(one.words, one.frames, strict=True))) for one in found] == [
            (nats(one.cost), one.words) for one in expected
        ]
        assert_same_lattice(lattice, oracles[slot].lattice(finalize=ended))


@given(data=st.data(), block_threads=st.sampled_from([None, None, 3]))
@SEARCHES
def test_what_is_gathered_from_a_device_says_the_same(
    data: st.DataObject, block_threads: int | None, device: torch.device
) -> None:
    graph = data.draw(graphs())
    config = WfstSearchConfig(max_tokens=1000, block_threads=block_threads, **SMALL)
    search = WfstSearch(graph, config, 3, device)
    for slot in range(3):
        search.set_options(slot, data.draw(options()))
        frames = data.draw(posteriors(data.draw(st.integers(0, 6)), graph.vocab_size))
        slots = torch.tensor([slot])
        search.advance(slots, frames[None].to(device), torch.tensor([len(frames)]))
    expected = search.nbest([1, 0, 2], 40), search.lattices([1, 0, 2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search._memory, "records", search._memory.gathered)
        found = search.nbest([1, 0, 2], 40), search.lattices([1, 0, 2])
    assert found[0] == expected[0]
    for one, other in zip(found[1], expected[1], strict=True):
        assert_same_lattice(one, other)


def test_no_more_is_gathered_than_tokens_reach(device: torch.device) -> None:
    """Records that wait to be collected stay where they are."""
    said = [Arc(0, 2, 1, 1.0, 1), Arc(0, 2, 2, 1.1, 2)]
    graph = compact_graph([*said, Arc(1, 3, 0, 0.0, 0), Arc(2, 3, 0, 0.0, 0)], 2, ["a", "b"])
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=10, **SMALL), 1, device)
    search.set_options(0, WfstOptions(max_active=10, lattice_beam=0.01))
    frames = torch.full((1, 60, 3), -30.0)
    frames[0, torch.arange(60), torch.tensor([0, 1, 2]).repeat(20)] = 0.0
    slot = torch.tensor([0], device=device)
    search.advance(slot, frames.to(device), torch.tensor([60]))
    counts = search._counts(slot).tolist()
    memory, _ = search._memory.gathered(slot, counts, search._lanes.launch())
    rows = (memory.numel() - 20 * counts[0][1]) // 24
    assert 0 < rows <= counts[0][2]
    assert rows < counts[0][2]


WORDS = st.integers(0, 4)
PHRASES = st.lists(
    st.builds(
        BoostPhrase,
        st.lists(WORDS, min_size=1, max_size=3).map(tuple),
        st.sampled_from([-1.5, 0.1, 2.0]),
    ),
    max_size=4,
)


@given(
    changes=st.lists(st.tuples(st.integers(0, 9), st.none() | PHRASES), max_size=4),
    restarts=st.booleans(),
    words=st.lists(WORDS, max_size=9),
)
def test_what_phrases_have_earned_is_told_as_tables_came_and_went(
    changes: list[tuple[int, list[BoostPhrase] | None]], restarts: bool, words: list[int]
) -> None:
    frames = list(range(len(words)))
    boosts, kept = kernels.SlotBoosts(), {}
    for frame, phrases in sorted(changes, key=lambda change: change[0]):
        table = None if phrases is None else BoostTable.compile(phrases, 5)
        kept[frame] = BoostWalk(table)
        if table is None:
            boosts.remove(frame)
        else:
            boosts.change(frame, table.links, table.bonuses)
    if restarts and kept:
        boosts.restart()
        kept = {0: kept[max(kept)]}
    bounds = [*sorted(kept), 100]
    expected = 0
    for start, stop in pairwise(bounds):
        state = 0
        for word, frame in zip(words, frames, strict=True):
            if start <= frame < stop:
                state = kept[start].step(state, word)
                expected += fixed(kept[start].completed(state))
    assert boosts.earned(words, frames) == expected
