"""Words that a graph search has found, as tokens with times."""

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
import torch

from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis
from earshot.streaming.search.graph_search import GraphState
from earshot.streaming.search.word_hypothesis import (
    NOTHING_PLACED,
    SegmentPosteriors,
    WordHypothesis,
)
from earshot.streaming.stream.segment import Segment
from earshot.streaming.words.graph_words import SpelledWord

SPACE = 9
TEA, NOW = SpelledWord("tea", (1, 2)), SpelledWord("now", (3,))
TODAY, WEATHER = SpelledWord("今天", (4, 5)), SpelledWord("天气", (5, 6))


def posteriors(*likeliest: int, since: int = 0) -> SegmentPosteriors:
    """Of a segment in which one token is certain in each frame; 0 is blank."""
    segment = Segment(0, detector=None)
    segment.extend(torch.nn.functional.one_hot(torch.tensor(likeliest), 10) * 20.0)
    model = SimpleNamespace(ctc_log_probs=lambda encoded: encoded.log_softmax(-1), blank_id=0)
    return SegmentPosteriors(model, segment, since)


def hypothesis(
    *said: SpelledWord | Sequence[SpelledWord],
    separator=None,
    heard=(0,),
    placed=NOTHING_PLACED,
    lattice=None,
) -> WordHypothesis:
    words = tuple((each,) if isinstance(each, SpelledWord) else tuple(each) for each in said)
    found = WfstHypothesis((1,) * len(words), (0,) * len(words), 1.0, 0.0, True)
    unboosted = (False,) * len(words)
    seen = posteriors(*heard, since=placed.until)
    classes = tuple(None if len(told) == 1 else "drink" for told in words)
    return WordHypothesis(
        found, words, unboosted, unboosted, classes, separator, seen, lattice, placed
    )


def test_tokens_are_those_of_the_words_in_their_order():
    found = hypothesis(TEA, NOW, TODAY, WEATHER)
    assert found.text == "tea now 今天天气"
    assert found.tokens == (1, 2, 3, 4, 5, 5, 6)
    spans = [(word.text, word.first, word.stop) for word in found.words]
    assert spans == [("tea", 0, 2), ("now", 2, 3), ("今天", 3, 5), ("天气", 5, 7)]


def test_a_token_for_a_space_stands_where_the_text_has_one_and_belongs_to_no_word():
    found = hypothesis(TEA, NOW, TODAY, WEATHER, separator=SPACE)
    assert found.tokens == (1, 2, SPACE, 3, SPACE, 4, 5, 5, 6)
    spans = [(word.first, word.stop) for word in found.words]
    assert spans == [(0, 2), (3, 4), (5, 7), (7, 9)]


def test_a_member_of_several_words_is_told_as_those():
    found = hypothesis(NOW, (TEA, NOW), TEA, separator=SPACE)
    assert found.text == "now tea now tea"
    assert found.tokens == (3, SPACE, 1, 2, SPACE, 3, SPACE, 1, 2)
    assert [(w.text, w.first, w.stop, w.word_class, w.goes_on) for w in found.words] == [
        ("now", 0, 1, None, False),
        ("tea", 2, 4, "drink", False),
        ("now", 5, 6, "drink", True),
        ("tea", 7, 9, None, False),
    ]
    assert [found.num_told(count) for count in range(5)] == [0, 1, 3, 4, 4]


def test_its_words_are_as_sure_as_the_lattice_is_of_it():
    sure = SimpleNamespace(confidences=lambda found: [0.5, 0.25])
    assert hypothesis(NOW, (TEA, NOW), lattice=sure).word_confidences == [0.5, 0.25, 0.25]
    unsure = SimpleNamespace(confidences=lambda found: None)
    assert hypothesis((TEA, NOW), lattice=unsure).word_confidences is None


def test_a_member_of_several_words_is_placed_as_one():
    first = hypothesis((TEA, NOW), TEA, heard=(0, 1, 2, 3, 0, 1, 2, 0))
    placed = first.first_placed(1)
    assert (placed.words, placed.frames) == ((1,), (1, 2, 3))
    heard = (0, 0, 0, 0, 0, 0, 3, 0)
    later = hypothesis((TEA, NOW), NOW, heard=heard, placed=placed)
    assert later.frames == [1, 2, 3, 6]


def test_it_is_left_where_it_was_told_to_be_once_all_of_it_lies_back():
    told = hypothesis((TEA, NOW), TEA, heard=(0, 1, 2, 3, 0, 1, 2, 0))
    assert [told.frames[stop - 1] for stop in told.stops] == [3, 6]
    assert len(told.token_log_probs) == 5
    for until, left in ((3, ()), (4, (1,)), (7, (1, 1))):
        state = GraphState(committed=(1, 1), told=told)
        state.place(until)
        assert state.placed.words == left


def test_tokens_are_placed_where_the_segment_has_them():
    found = hypothesis(TEA, NOW, heard=(0, 1, 1, 0, 2, 0, 3, 0))
    assert found.frames == [1, 4, 6]
    assert found.token_log_probs == pytest.approx([0.0] * 3, abs=1e-3)


def test_tokens_that_are_placed_stay_and_the_rest_is_looked_for_after_them():
    first = hypothesis(TEA, NOW, heard=(0, 1, 1, 0, 2, 0, 3, 0))
    assert not first.is_placed
    placed = first.first_placed(1)
    assert (placed.words, placed.frames, placed.until) == ((1,), (1, 4), 5)
    assert first.is_placed
    heard = (3, 3, 3, 3, 3, 0, 0, SPACE, 3, 0)
    later = hypothesis(TEA, NOW, separator=SPACE, heard=heard, placed=placed)
    assert later.frames == [1, 4, 7, 8]
    assert later.token_log_probs[:2] == first.token_log_probs[:2]
    assert later.token_log_probs[2:] == pytest.approx([0.0] * 2, abs=1e-3)
    assert hypothesis(TEA).first_placed(0) == NOTHING_PLACED


def test_no_words_need_no_segment():
    found = hypothesis()
    assert (found.text, found.tokens, found.frames, found.token_log_probs) == ("", (), [], [])
