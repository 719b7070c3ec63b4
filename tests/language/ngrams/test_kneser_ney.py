"""Smoothing, against the formulas on dictionaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lm_cases import (
    ORDERS,
    TEXTS,
    PlainKneserNey,
    Sentences,
    all_histories,
    few,
    numbered,
    probs_after,
)

from earshot.language.ngrams.kneser_ney import FEW_DATA_DISCOUNTS, discounts, estimate
from earshot.language.ngrams.levels import word_columns
from earshot.language.ngrams.text import END


@few
@given(TEXTS, ORDERS, st.integers(1, 3))
def test_probabilities_are_those_of_the_formulas(
    sentences: Sentences, order: int, min_count: int
) -> None:
    words, ids = numbered(sentences)
    model = estimate(words, np.array(ids, np.int32), order, min_count)
    plain = PlainKneserNey(len(words), ids, order, min_count)
    histories = all_histories(len(words), 2)
    ours = probs_after(model, histories)[:, END:]
    expected = [[plain.prob(w, h) for w in range(END, len(words))] for h in histories]
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


@few
@given(TEXTS, ORDERS, st.integers(1, 3))
def test_probabilities_sum_to_1_after_each_history(
    sentences: Sentences, order: int, min_count: int
) -> None:
    words, ids = numbered(sentences)
    model = estimate(words, np.array(ids, np.int32), order, min_count)
    probs = probs_after(model, all_histories(len(words), 3))
    np.testing.assert_allclose(probs.sum(axis=1), 1.0, atol=1e-9)


def test_rare_ngrams_of_the_highest_order_alone_are_not_listed() -> None:
    words, ids = numbered([["a", "b", "c"], ["a", "b", "c"], ["b", "c", "d"]])
    model = estimate(words, np.array(ids, np.int32), 3, min_count=2)
    listed = {tuple(words[word] for word in row) for row in word_columns(model.levels, 3)}
    assert listed == {("<s>", "a", "b"), ("a", "b", "c"), ("b", "c", "</s>")}
    assert model.counts[3].tolist() == [2.0, 2.0, 2.0]
    assert len(model.levels[2]) == 7


def test_discounts_are_estimated_where_there_is_enough_text() -> None:
    counts = np.repeat([1.0, 2.0, 3.0, 4.0], [8, 4, 2, 1])
    assert discounts(counts) == pytest.approx((0.5, 2 - 3 * 0.5 * 2 / 4, 3 - 4 * 0.5 * 1 / 2))
    assert discounts(counts[:-1]) == FEW_DATA_DISCOUNTS
