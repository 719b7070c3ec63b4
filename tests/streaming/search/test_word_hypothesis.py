"""Words that a graph search has found, as tokens with times."""

from types import SimpleNamespace

import pytest
import torch

from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis
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
    *words: SpelledWord, separator=None, heard=(0,), placed=NOTHING_PLACED
) -> WordHypothesis:
    found = WfstHypothesis((1,) * len(words), (0,) * len(words), 1.0, 0.0, True)
    unboosted = (False,) * len(words)
    seen = posteriors(*heard, since=placed.until)
    nameless = (None,) * len(words)
    return WordHypothesis(
        found, words, unboosted, unboosted, nameless, separator, seen, placed=placed
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
