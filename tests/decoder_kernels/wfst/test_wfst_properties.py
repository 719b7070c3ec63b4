"""WFST search equals the oracle, bit by bit, whatever is thrown at it."""

from dataclasses import dataclass

import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from search_company import (
    CutFrames,
    advance_together,
    change_table_on_the_way,
    cut_frames,
    examples,
    slots_for,
)
from wfst_cases import assert_as_oracle, graphs, options, search_configs, tables
from wfst_oracle import WfstOracle

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

CASES = settings(
    deadline=None,
    max_examples=examples(60),
    phases=(Phase.explicit, Phase.generate),  # to make one smaller takes the oracle minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


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
def companies(draw: st.DrawFn) -> Company:
    """Streams of different lengths, cuts, options and boosts in a random order of slots."""
    graph = draw(graphs())
    config = draw(search_configs())
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


@given(company=companies())
@CASES
def test_each_stream_is_decoded_as_by_the_oracle_alone(
    company: Company, device: torch.device
) -> None:
    search = search_together(company, device)
    for slot, stream in zip(company.slots, company.streams, strict=True):
        oracle = WfstOracle(company.graph, stream.options, stream.table)
        oracle.advance(stream.audio.frames.tolist())
        assert_as_oracle(search, slot, oracle)
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
    frames = stream.audio.frames
    for _ in change_table_on_the_way(search, oracle, frames, cut, table, device):
        assert_as_oracle(search, 0, oracle)
