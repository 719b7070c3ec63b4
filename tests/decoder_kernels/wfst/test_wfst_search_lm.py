"""A search with language models equals the oracle with the same rules, bit by bit."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from backoff_oracle import BackoffModel
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from search_company import CutFrames, advance_together, cut_frames, examples, slots_for
from search_lm_cases import CLASSES, native_lm, search_lms
from search_lm_oracle import SearchLmOracle
from wfst_cases import (
    SMALL,
    assert_as_oracle,
    compact_graph,
    graphs,
    options,
    search_configs,
    tables,
)
from wfst_oracle import WfstOracle

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

CASES = settings(
    deadline=None,
    max_examples=examples(60),
    phases=(Phase.explicit, Phase.generate),  # to make one smaller takes the oracle minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


CACHES = (0, 112, 8 * 1024)
"""Bytes of what a device keeps of lookups: nothing, three entries, and enough."""


@dataclass(frozen=True)
class Stream:
    audio: CutFrames
    options: WfstOptions
    table: WordBoostTable | None
    lm: SearchLmOracle | None


@dataclass(frozen=True)
class Company:
    """Some streams that share a search."""

    graph: Graph
    config: WfstSearchConfig
    streams: list[Stream]
    slots: list[int]


@st.composite
def companies(draw: st.DrawFn, *, name_classes: bool = False) -> Company:
    """Streams with language models, each with others or none, in a random order of slots.

    name_classes: members of classes may be said from the beginning, and often are.
    """
    graph = draw(graphs().filter(lambda graph: _takes_words(graph) or not name_classes))
    if name_classes:
        graph = replace(graph, loop_node=graph.start)
    cache_bytes = draw(st.sampled_from(CACHES))
    config = replace(draw(search_configs()), lm_cache_bytes=cache_bytes)
    streams = []
    for number in range(draw(st.integers(1, 3))):
        audio = draw(cut_frames(graph.vocab_size, most_chunks=3, longest_chunk=3))
        own = draw(options())
        lms = search_lms(graph, own.graph_scale)
        lm = draw(lms if number == 0 else st.none() | lms)
        table = (
            draw(tables(graph, CLASSES)) if name_classes or draw(st.integers(0, 2)) == 0 else None
        )
        streams.append(Stream(audio, own, table, lm))
    return Company(graph, config, streams, draw(slots_for(streams)))


def _takes_words(graph: Graph) -> bool:
    return graph.topology != "explicit"


@given(company=companies() | companies(name_classes=True))
@CASES
def test_each_stream_is_decoded_as_by_the_oracle_alone(
    device: torch.device, company: Company, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("lms")
    search = WfstSearch(company.graph, company.config, len(company.slots) + 1, device)
    for slot, stream in zip(company.slots, company.streams, strict=True):
        search.set_options(slot, stream.options)
        search.set_boost(slot, stream.table)
        search.set_lm(slot, stream.lm and native_lm(stream.lm, folder))
    audio = [stream.audio for stream in company.streams]
    advance_together(search, company.slots, audio, search.device)
    for slot, stream in zip(company.slots, company.streams, strict=True):
        oracle = WfstOracle(company.graph, stream.options, stream.table, stream.lm)
        oracle.advance(stream.audio.frames.tolist())
        assert_as_oracle(search, slot, oracle, lists_are_exact=False)
    assert search.overflows() == 0


def test_what_lies_beyond_the_history_beam_is_no_alternative(
    device: torch.device, tmp_path: Path
) -> None:
    a, b = ("a",), ("b",)
    costs = dict.fromkeys([a, b, ("<s>",), ("</s>",), ("a", "a"), ("b", "a")], 1024.0)
    model = BackoffModel(2, costs, {})
    # "b" is near "a" at its place, and "a b" far from it; both end in the same words.
    arcs = [Arc(0, 2, 1, 0.0, 2), Arc(0, 2, 2, 0.5, 2), Arc(0, 0, 1, 0.5, 1), Arc(1, 2, 2, 1.5, 2)]
    graph, listed = compact_graph(arcs, 2, ("a", "b")), []
    wide = WfstOptions(max_active=100, lattice_beam=5.0)
    for history_beam in (1.0, 3.0):
        lm = SearchLmOracle(graph.word_texts, model, [model], (1.0,), 1.0, 1.0, history_beam)
        search = WfstSearch(graph, WfstSearchConfig(max_tokens=100, **SMALL), 1, device)
        search.set_options(0, wide)
        search.set_lm(0, native_lm(lm, tmp_path))
        frames = torch.tensor([[-3.0, -0.5, -1.0]])
        search.advance(torch.tensor([0]), frames[None].to(device), torch.tensor([1]))
        oracle = WfstOracle(graph, wide, lm=lm)
        oracle.advance(frames.tolist())
        assert_as_oracle(search, 0, oracle)
        [found] = search.nbest([0], 10)
        listed.append([each.words for each in found or ()])
    assert listed == [[(1,), (2,)], [(1,), (2,), (1, 2)]]


def test_a_sentences_end_that_was_asked_for_is_no_beginning(
    device: torch.device, tmp_path: Path
) -> None:
    costs = dict.fromkeys([("a",), ("b",), ("<s>",), ("</s>",)], 1024.0)
    large = BackoffModel(2, costs | {("</s>", "b"): 512.0}, {})
    lm = SearchLmOracle(
        ("<eps>", "a", "b"), BackoffModel(1, costs, {}), [large], (1.0,), 1.0, 1.0, 5.0
    )
    graph = compact_graph([Arc(0, 2, 1, 0.5, 1), Arc(1, 3, 2, 0.5, 1)], 1, ("a", "b"))
    options = WfstOptions(max_active=100)
    config = WfstSearchConfig(max_tokens=100, lm_cache_bytes=8 * 1024, **SMALL)
    search, oracle = WfstSearch(graph, config, 1, device), WfstOracle(graph, options, lm=lm)
    search.set_options(0, options)
    search.set_lm(0, native_lm(lm, tmp_path))
    for frame in ([-3.0, -0.5, -1.0], [-3.0, -1.0, -0.5]):
        search.advance(torch.tensor([0]), torch.tensor([[frame]]).to(device), torch.tensor([1]))
        oracle.advance([frame])
        assert_as_oracle(search, 0, oracle)  # asks for the end, too


def test_of_words_that_are_as_dear_the_same_stay_first_when_models_go(
    device: torch.device, tmp_path: Path
) -> None:
    texts = ("a", "b", "c")
    singles = [(text,) for text in (*texts, "<s>", "</s>")]
    pairs = [(text, "a") for text in texts]
    model = BackoffModel(2, dict.fromkeys([*singles, *pairs], 1024.0), {})
    graph = compact_graph([Arc(0, 2, word, 0.0, 0) for word in (3, 1, 2)], 1, texts)
    lm = SearchLmOracle(graph.word_texts, model, [model], (1.0,), 1.0, 1.0, 5.0)
    options = WfstOptions(max_active=100)
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=100, **SMALL), 1, device)
    oracle = WfstOracle(graph, options, lm=lm)
    search.set_options(0, options)
    search.set_lm(0, native_lm(lm, tmp_path))
    frames = torch.tensor([[-3.0, -0.5, -1.0]])
    search.advance(torch.tensor([0]), frames[None].to(device), torch.tensor([1]))
    oracle.advance(frames.tolist())
    assert len(oracle.tokens) == 4
    search.set_lm(0, None)
    oracle.set_lm(None)
    assert_as_oracle(search, 0, oracle)
    assert search.best(torch.tensor([0]))[0].hypothesis.words == (1,)


@given(company=companies() | companies(name_classes=True), cut=st.integers(0, 6), data=st.data())
@CASES
def test_models_and_tables_that_change_on_the_way(
    device: torch.device,
    company: Company,
    cut: int,
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder, stream = tmp_path_factory.mktemp("lms"), company.streams[0]
    search = WfstSearch(company.graph, company.config, 1, device)
    oracle = WfstOracle(company.graph, stream.options)
    search.set_options(0, stream.options)
    frames = stream.audio.frames
    for part in (frames[:0], frames[:cut], frames[cut:]):
        search.advance(torch.tensor([0]), part[None].to(device), torch.tensor([len(part)]))
        oracle.advance(part.tolist())
        for _ in range(2):
            if data.draw(st.booleans()):
                scale = stream.options.graph_scale
                lm = data.draw(st.none() | search_lms(company.graph, scale))
                search.set_lm(0, lm and native_lm(lm, folder))
                oracle.set_lm(lm)
            else:
                table = data.draw(tables(company.graph, CLASSES))
                search.set_boost(0, table)
                oracle.set_boost(table)
            assert_as_oracle(search, 0, oracle, lists_are_exact=False)
