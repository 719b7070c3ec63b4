"""Mixing: probabilities, weights by history, and weights that fit a text."""

import numpy as np
import pytest
from hypothesis import given
from lm_cases import ORDERS, TEXTS, Sentences, all_histories, few, numbered, probs_after

from earshot.language.ngrams.kneser_ney import estimate
from earshot.language.ngrams.mixture import mix, tune
from earshot.language.ngrams.model import NGramModel


def model_of(sentences: Sentences, order: int) -> NGramModel:
    words, ids = numbered(sentences)
    return estimate(words, np.array(ids, np.int32), order)


@few
@given(TEXTS, TEXTS, ORDERS)
def test_probabilities_sum_to_1(one: Sentences, other: Sentences, order: int) -> None:
    mixed = mix([model_of(one, order), model_of(other, order)], [1.0, 3.0])
    probs = probs_after(mixed, all_histories(len(mixed.words), 3))
    np.testing.assert_allclose(probs.sum(axis=1), 1.0, atol=1e-9)


@few
@given(TEXTS, ORDERS)
def test_a_model_mixed_with_itself_is_itself(sentences: Sentences, order: int) -> None:
    model = model_of(sentences, order)
    histories = all_histories(len(model.words), 3)
    mixed = mix([model, model], [0.5, 2.0])
    np.testing.assert_allclose(probs_after(mixed, histories), probs_after(model, histories))
    np.testing.assert_allclose(mixed.counts[1], 2.5 * model.counts[1])


def test_listed_ngrams_are_weighted_by_how_often_their_history_was_seen() -> None:
    one, other = model_of(["ab", "ab", "ac"], 2), model_of(["ab", "ad", "da"], 2)
    mixed = mix([one, other], [1.0, 2.0])
    a, c, d = (mixed.words.index(word) for word in "acd")
    [ours] = probs_after(mixed, [(a,)])
    [left], [right] = probs_after(one, [(a,)]), probs_after(other, [(a,)])
    assert ours[c] == pytest.approx((3 * left[c] + 2 * 3 * right[c]) / 9)
    # What only one text has begun with is as that text has it.
    assert probs_after(mixed, [(d,)])[0][a] == pytest.approx(probs_after(other, [(d,)])[0][a])


def test_tuning_finds_the_model_of_the_text() -> None:
    models = [model_of(["ab"] * 20 + ["cd"], 2), model_of(["ba"] * 20 + ["dc"], 2)]
    like_one, like_other = (np.array(numbered([text] * 4)[1], np.int32) for text in ("ab", "ba"))
    assert tune(models, [like_one])[1] < 0.5
    assert tune(models, [like_other])[1] > 2
    assert tune(models, [like_one, like_other])[1] == pytest.approx(1.0, abs=0.2)
