"""WFST search equals the oracle, bit by bit, whatever is thrown at it."""

from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from search_company import CutFrames, advance_together, cut_frames, slots_for

from decoder_kernels.graph import TOPOLOGIES, Arc, Graph
from decoder_kernels.wfst_options import WfstOptions, nats
from decoder_kernels.wfst_oracle import WfstOracle
from decoder_kernels.wfst_search import WfstSearch, WfstSearchConfig
from decoder_kernels.word_boost import WordBoostTable, WordPhrase

CASES = settings(
    deadline=None,
    max_examples=150,
    phases=(Phase.explicit, Phase.generate),  # to make one smaller takes the oracle minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
LISTED = 500
SMALL = {"record_capacity": 4096, "entry_capacity": 2048, "candidate_capacity": 8192}


@dataclass(frozen=True)
class Stream:
    audio: CutFrames
    options: WfstOptions
    table: WordBoostTable | None


@dataclass(frozen=True)
class Company:
    """Some streams that share a search."""

    graph: Graph
    config: WfstSearchConfig
    streams: list[Stream]
    slots: list[int]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A few nodes; epsilon arcs lead to nodes with a higher number, and some of them gain."""
    nodes, vocab_size = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    topology = draw(st.sampled_from(TOPOLOGIES))
    blank_id, num_words = draw(st.integers(0, vocab_size - 1)), draw(st.integers(0, 4))
    coarse = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arcs = []
    for _ in range(draw(st.integers(0, 20))):
        source, target = (int(n) for n in rng.integers(0, nodes, 2))
        label = int(rng.integers(0, vocab_size + 1))
        if topology != "explicit" and label == blank_id + 1:
            label = 0
        if label == 0:
            if source == target:
                continue
            source, target = min(source, target), max(source, target)
        weight = float(rng.normal(1.0, 1.5))
        word = int(rng.integers(0, num_words + 1))
        arcs.append(Arc(source, label, word, round(weight) if coarse else weight, target))
    finals = {int(n): float(rng.integers(0, 3)) for n in rng.integers(0, nodes, rng.integers(0, 3))}
    return Graph.from_arcs(
        arcs,
        finals,
        nodes,
        topology=topology,
        vocab_size=vocab_size,
        blank_id=blank_id,
        start=int(rng.integers(0, nodes)),
        word_texts=["<eps>", *"abcd"[:num_words]],
        loop_node=draw(st.integers(-1, nodes - 1)),
        unknown_cost=draw(st.sampled_from([0.0, 1.0, 2.5])),
    )


@st.composite
def tables(draw: st.DrawFn, graph: Graph) -> WordBoostTable | None:
    """A boost table with words of the graph and others, or none."""
    spelling = st.lists(st.integers(0, graph.vocab_size - 1), min_size=1, max_size=3).map(tuple)
    word: st.SearchStrategy[int | tuple[int, ...]] = spelling
    if len(graph.word_texts) > 1:
        word = st.integers(1, len(graph.word_texts) - 1) | spelling
    phrase = st.builds(
        WordPhrase,
        words=st.lists(word, min_size=1, max_size=3).map(tuple),
        weight=st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0, 20.0]),
    )
    phrases = draw(st.none() | st.lists(phrase, min_size=1, max_size=4))
    return None if phrases is None else WordBoostTable.compile(phrases, graph)


def options() -> st.SearchStrategy[WfstOptions]:
    return st.builds(
        WfstOptions,
        beam=st.sampled_from([0.5, 3.0, 8.0, 1e3, 1e9]),
        max_active=st.sampled_from([1, 2, 3, 7, 1000]),
        lattice_beam=st.sampled_from([0.5, 3.0, 8.0]),
        acoustic_scale=st.sampled_from([0.0, 0.7, 1.0]),
        graph_scale=st.sampled_from([0.0, 0.8, 1.0]),
        blank_skip=st.sampled_from([0.5, 1.0, 1.0]),
    )


@st.composite
def companies(draw: st.DrawFn) -> Company:
    """Streams of different lengths, cuts, options and boosts in a random order of slots."""
    graph = draw(graphs())
    config = WfstSearchConfig(
        max_tokens=1000,
        workers=draw(st.integers(1, 3)),
        block_threads=draw(st.sampled_from([1, 1, 1, 2, 5])),
        **SMALL,
    )
    streams = []
    for _ in range(draw(st.integers(1, 3))):
        audio = draw(cut_frames(graph.vocab_size, most_chunks=3, longest_chunk=3))
        streams.append(Stream(audio, draw(options()), draw(tables(graph))))
    return Company(graph, config, streams, draw(slots_for(streams)))


def search_together(company: Company, device: torch.device) -> WfstSearch:
    search = WfstSearch(company.graph, company.config, len(company.slots) + 1, device)
    for slot, stream in zip(company.slots, company.streams, strict=True):
        search.set_options(slot, stream.options)
        search.set_boost(slot, stream.table)
    advance_together(search, company.slots, [one.audio for one in company.streams], device)
    return search


def assert_equal(search: WfstSearch, slot: int, oracle: WfstOracle) -> None:
    """The same best path with its times, the same n-best list, the same stable words."""
    for finalize in (False, True):
        [result] = search.best(torch.tensor([slot]), finalize=finalize)
        token, cost = oracle.best(finalize)
        found = result.hypothesis
        assert list(zip(found.words, found.frames, strict=True)) == list(token.best)
        assert found.cost == nats(cost)
        assert found.reached_final == oracle.ends(finalize)[1]
        assert result.stable_length == min(oracle.stable_length(), len(found.words))
        listed = search.nbest(slot, LISTED, finalize=finalize)
        expected = [(nats(cost), words) for cost, words in oracle.nbest(finalize)]
        if len(expected) < LISTED:
            assert sorted((one.cost, one.words) for one in listed) == expected
        else:
            assert [one.cost for one in listed] == [cost for cost, _ in expected[:LISTED]]
        assert [one.cost for one in listed] == sorted(one.cost for one in listed)


@given(company=companies())
@CASES
def test_each_stream_is_decoded_as_by_the_oracle_alone(
    company: Company, device: torch.device
) -> None:
    search = search_together(company, device)
    for slot, stream in zip(company.slots, company.streams, strict=True):
        oracle = WfstOracle(company.graph, stream.options, stream.table)
        oracle.advance(stream.audio.frames.tolist())
        assert_equal(search, slot, oracle)
    assert search.overflows() == 0


@given(company=companies(), cut=st.integers(0, 12), other=st.data())
@CASES
def test_a_table_that_changes_on_the_way(
    company: Company, cut: int, other: st.DataObject, device: torch.device
) -> None:
    stream = company.streams[0]
    table = other.draw(tables(company.graph))
    search = WfstSearch(company.graph, company.config, 1, device)
    oracle = WfstOracle(company.graph, stream.options, stream.table)
    search.set_options(0, stream.options)
    search.set_boost(0, stream.table)
    for frames in (stream.audio.frames[:cut], stream.audio.frames[cut:]):
        search.advance(torch.tensor([0]), frames[None].to(device), torch.tensor([len(frames)]))
        oracle.advance(frames.tolist())
        search.set_boost(0, table)
        oracle.set_boost(table)
        assert_equal(search, 0, oracle)
