"""Smoothing, against the formulas on dictionaries."""

from pathlib import Path

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

from earshot.decoder_kernels.errors import LanguageModelError
from earshot.language.ngrams import counts
from earshot.language.ngrams.columns import BYTES_OF_A_ROW, MappedColumns
from earshot.language.ngrams.kneser_ney import FEW_DATA_DISCOUNTS, discounts, estimate
from earshot.language.ngrams.levels import word_columns
from earshot.language.ngrams.model import NGramModel
from earshot.language.ngrams.text import END, Text, choose_vocabulary


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


def arrays_of(model: NGramModel) -> list[list[object]]:
    levels = [[level.contexts, level.words, level.suffixes] for level in model.levels]
    columns = [*levels, model.probs, model.back_offs, model.counts]
    return [[values.tolist() for values in each] for each in columns]


@few
@given(TEXTS, st.integers(1, 6), st.integers(1, 3), st.integers(1, 30))
def test_the_memory_makes_no_difference(
    tmp_path_factory: pytest.TempPathFactory,
    sentences: Sentences,
    order: int,
    min_count: int,
    rows: int,
) -> None:
    words, ids = numbered(sentences)
    model = estimate(words, np.array(ids, np.int32), order, min_count)
    columns = MappedColumns(tmp_path_factory.mktemp("columns"), rows * BYTES_OF_A_ROW)
    text = Text.of(sentences, columns)
    assert choose_vocabulary([text], 0, "abcd") == words
    bounded = estimate(words, text.in_words_of(words, columns), order, min_count, columns)
    assert arrays_of(bounded) == arrays_of(model)


@pytest.mark.parametrize("rows", [20, 100])
def test_no_more_places_are_sorted_than_are_held_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """Also of a context that is seen more often than that, if no n-gram is."""
    sizes: list[int] = []
    sort = np.argsort
    monkeypatch.setattr(counts.np, "argsort", lambda keys: sizes.append(len(keys)) or sort(keys))
    draw = np.random.default_rng(1)
    words, ids = numbered([list(draw.choice(list("aaaaaabcd"), 9)) for _ in range(60)])
    model = estimate(words, np.array(ids, np.int32), 3)
    most = max(int(model.counts[2].max()), rows)
    assert max(sizes) > max(most, model.counts[1].max())
    sizes.clear()
    columns = MappedColumns(tmp_path, rows * BYTES_OF_A_ROW)
    estimate(words, np.array(ids, np.int32), 3, columns=columns)
    assert 0 < max(sizes) <= most


def test_ngrams_that_no_row_can_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    words, ids = numbered(["abab", "cab"])
    monkeypatch.setattr(counts, "MAX_ROWS", 3)
    with pytest.raises(LanguageModelError, match="more than 3 n-grams of an order"):
        estimate(words, np.array(ids, np.int32), 3)
