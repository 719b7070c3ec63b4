"""What searches could not do is counted, each kind of it once."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from earshot.decoder_kernels.prefix.prefix_search import PrefixSearchConfig
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Partial
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models.held_lms import StreamLms
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.ctc_searches import build_searches
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.words.graph_words import GraphWords

GRAPH = StreamConfig(mode="ctc_wfst_beam_search")


def test_alternatives_that_are_too_many_to_list_are_done_without(graph_engine, sounds, monkeypatch):
    def endless(self, slots, n, *, finalize):
        return [None] * len(slots)

    monkeypatch.setattr(WfstSearch, "nbest", endless)
    heard = sounds.transcribe(graph_engine, sounds.speech("一二五"), replace(GRAPH, alternatives=3))
    graph_engine.stop(60)
    assert [each.text for each in heard.finals[0].alternatives] == ["一二五"]
    assert graph_engine.stats.search == SearchCounts(nbest_timeouts=1)


def test_a_final_that_breaks_a_promise_is_counted(graph_engine, sounds, monkeypatch):
    """Its list holds nothing that begins with what was stable."""
    whole = WfstSearch.nbest

    def changing(self, slots, n, *, finalize):
        best = [listed[0] for listed in whole(self, slots, n, finalize=finalize)]
        return [
            [replace(each, words=(2, *each.words[1:])) if ended else each]
            for each, ended in zip(best, finalize, strict=True)
        ]

    monkeypatch.setattr(WfstSearch, "nbest", changing)
    heard = sounds.transcribe(graph_engine, sounds.speech("一二五六八一二五六八一二"), GRAPH)
    graph_engine.stop(60)
    assert heard.of(Partial)[-1].stable_words > 0
    assert heard.text == "二二五六八一二五六八一二"
    assert graph_engine.stats.search == SearchCounts(revised_prefixes=1)


def test_room_that_runs_out_is_counted(make_graph_engine, sounds):
    config = GraphSearchConfig(lm_weight=1.0, max_active=8, backpointers_per_token=1)
    engine = make_graph_engine(graph_search=config)
    heard = sounds.transcribe(engine, sounds.speech("一二五六八" * 4), GRAPH)
    engine.stop(60)
    assert heard.text.startswith("一二")
    assert engine.stats.search.overflows > 0
    assert engine.stats.failed_streams == 0


@pytest.mark.parametrize("kind", ["graph", "prefix"])
def test_frames_that_are_searched_again_are_counted_once(digit_loop, tone_model, monkeypatch, kind):
    def small(**sizes):
        return PrefixSearchConfig(**{**sizes, "node_capacity": 24})

    monkeypatch.setattr("earshot.streaming.search.ctc_searches.PrefixSearchConfig", small)
    room = GraphSearchConfig(max_active=8, backpointers_per_token=1)
    config = EngineConfig(max_streams=1, threads=1, graph_search=room)
    words = GraphWords(digit_loop(tone_model.tokenizer.vocab_size), tone_model.tokenizer)
    model, tokenizer = tone_model.model, tone_model.tokenizer
    search = build_searches(
        model,
        tokenizer,
        words,
        config,
        vocab_size=tokenizer.vocab_size,
        max_segment_frames=400,
        device=torch.device("cpu"),
    )[kind]
    generator = torch.Generator().manual_seed(1)
    frames = torch.randn(300, tone_model.tokenizer.vocab_size, generator=generator).log_softmax(-1)
    monkeypatch.setattr(tone_model.model, "ctc_log_probs", lambda encoded: encoded)
    stream = SimpleNamespace(slot=0, search_counts=SearchCounts(), lms=StreamLms())
    counts = []
    for walks in (1, 3):
        before = search.counts.overflows
        for _ in range(walks):
            search.rewind(stream, frames)
        search.restart([stream])
        counts.append(search.counts.overflows - before)
    assert counts[0] == counts[1] > 0
    assert stream.search_counts.overflows == sum(counts)
