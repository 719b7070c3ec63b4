"""Scores by tree and in batches are those of each sentence by itself."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earshot.models import token_tree
from earshot.models.neural_lm.sentence_scorer import SentenceScorer

WORDS = ["the", "cat", "dog's", "can't", "mat", "on", "zebra", "é"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), max_size=3), min_size=1, max_size=5)


@pytest.fixture
def scorer(network, tokenizer) -> SentenceScorer:
    return SentenceScorer(network, tokenizer)


@torch.no_grad()
def plainly(scorer, words) -> tuple[list[float], float]:
    """The oracle: one sentence, word by word, without a tree and without a batch."""
    spelled = [scorer.tokenizer.encode(word) for word in words]
    row = [1, *(token for word in spelled for token in word)]
    log_probs = scorer.network(torch.tensor([row])).log_softmax(dim=-1)[0]
    each = iter(float(log_probs[place, token]) for place, token in enumerate(row[1:]))
    return [sum(next(each) for _ in word) for word in spelled], float(log_probs[-1, 1])


@given(st.lists(SENTENCES, max_size=4), st.sampled_from([1, 30, 512]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_scores_are_those_of_each_sentence_alone(scorer, monkeypatch, lists, at_once):
    monkeypatch.setattr(token_tree, "NODES_AT_ONCE", at_once)
    for own, found in zip(lists, scorer.score(lists), strict=True):
        for words, score in zip(own, found, strict=True):
            expected, end = plainly(scorer, words)
            assert score.words == pytest.approx(expected, abs=1e-4)
            assert score.end == pytest.approx(end, abs=1e-4)


@torch.no_grad()
def test_probabilities_of_all_that_may_follow_sum_to_one(scorer):
    [[score]] = scorer.score([[["the"]]])
    row = torch.tensor([[1, *scorer.tokenizer.encode("the")]])
    follow = scorer.network(row).log_softmax(dim=-1)[0, -1].exp()
    assert float(follow.sum()) == pytest.approx(1.0, abs=1e-5)
    assert score.end == pytest.approx(float(follow[1].log()), abs=1e-4)


def test_words_are_taken_in_lower_case(scorer):
    [small], [large] = scorer.score([[["the", "cat"]], [["The", "CAT"]]])
    assert small.words == pytest.approx(large.words, abs=1e-5)


def test_a_list_with_a_sentence_longer_than_the_context_has_no_scores(scorer):
    short, long = [["the"]], [["the"], ["cat"] * 30]
    assert [found is None for found in scorer.score([short, long, short])] == [False, True, False]


def test_no_lists_have_no_scores(scorer):
    assert scorer.score([]) == []
