"""How sure a lattice is of a hypothesis' words, and when it is drawn."""

from dataclasses import replace

import numpy as np
import pytest

from earshot.decoder_kernels.wfst.wfst_confidence import WordConfidences
from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.events import Partial
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.results.results import first_pass_scores
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.graph_confidence import SegmentLattice
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.u2.second_pass import SecondPass

GRAPH = StreamConfig(mode="ctc_wfst_beam_search")
TEA, SEA = 1, 2


class Search:
    """Hears tea, or with a third of its weight sea, in the frames 2 to 9."""

    def __init__(self) -> None:
        self.drawn: list[tuple[int, bool]] = []

    def confidences(
        self, slots: list[int], posterior_scale: float, coverage: float, *, finalize: list[bool]
    ) -> list[WordConfidences]:
        self.drawn += zip(slots, finalize, strict=True)
        lattice = WordLattice(
            frames=np.array([0, 2, 9], np.int32),
            sources=np.array([0, 1, 1], np.int32),
            targets=np.array([1, 2, 2], np.int32),
            words=np.array([0, TEA, SEA], np.int32),
            costs=np.array([5.0, 0.0, 2.0 * np.log(3.0)]),
            beam=8.0,
            reached_final=True,
        )
        return [WordConfidences.of_lattice(lattice, posterior_scale, coverage) for _ in slots]


def found(*words: int) -> WfstHypothesis:
    return WfstHypothesis(words, (2,) * len(words), 5.0, 0.0, True)


def test_a_word_has_its_share_of_what_the_lattice_covers():
    config = GraphSearchConfig(posterior_scale=0.5, coverage=0.8)
    lattice = SegmentLattice(Search(), 0, config, pytest.fail, ended=True)
    assert lattice.confidences(found(TEA)) == pytest.approx([0.6])
    assert lattice.confidences(found(SEA)) == pytest.approx([0.2])


def test_the_lattice_is_drawn_once_and_not_for_nothing():
    search = Search()
    lattice = SegmentLattice(search, 3, GraphSearchConfig(), pytest.fail, ended=False)
    assert lattice.confidences(found()) == []
    assert search.drawn == []
    lattice.confidences(found(TEA))
    lattice.confidences(found(SEA))
    assert search.drawn == [(3, False)]


@pytest.mark.parametrize(
    "changes", [{"posterior_scale": 0.0}, {"posterior_scale": float("nan")}, {"coverage": 1.1}]
)
def test_numbers_that_make_no_confidence_are_refused(changes):
    with pytest.raises(InvalidEngineConfig, match=next(iter(changes))):
        GraphSearchConfig(**changes)


def test_words_of_finals_are_as_sure_as_the_lattice(graph_engine, sounds):
    """Nothing contests them; what lattices cover is all that can be said."""
    heard = sounds.transcribe(graph_engine, sounds.speech("一五 二"), GRAPH)
    sure = [word.confidence for word in heard.finals[0].alternatives[0].words]
    assert sure == pytest.approx([GraphSearchConfig.coverage] * 3, abs=1e-3)
    shown = heard.of(Partial)[-1].alternatives[0].words
    assert all(word.confidence > 0.99 for word in shown)


def test_words_that_the_second_pass_prefers_have_their_own_confidence(
    graph_engine, sounds, monkeypatch
):
    def contrary(self, endings, beat):
        for ending in endings:
            ending.scored = [first_pass_scores(each) for each in ending.hypotheses[1:]]

    samples, config = sounds.speech("三四"), replace(GRAPH, alternatives=2)
    _, second = sounds.transcribe(graph_engine, samples, config).finals[0].alternatives
    monkeypatch.setattr(SecondPass, "__call__", contrary)
    preferred = sounds.transcribe(graph_engine, samples, config).finals[0].alternatives[0]
    assert [word.text for word in preferred.words] == ["三四", "四"]
    assert preferred.words == second.words
    assert all(word.confidence < GraphSearchConfig.coverage - 0.1 for word in preferred.words)


def test_alternatives_that_are_too_many_to_weigh_leave_words_as_sure_as_their_tokens(
    graph_engine, sounds, monkeypatch
):
    def endless(self, slots, posterior_scale, coverage, *, finalize):
        return [None] * len(slots)

    monkeypatch.setattr(WfstSearch, "confidences", endless)
    heard = sounds.transcribe(graph_engine, sounds.speech("一二五"), replace(GRAPH, alternatives=2))
    graph_engine.stop(60)
    assert heard.text == "一二五"
    assert all(word.confidence > 0.99 for word in heard.finals[0].alternatives[0].words)
    assert graph_engine.stats.search == SearchCounts(lattice_timeouts=1)
