"""Pruning: still probabilities, small enough, and the dearest n-grams stay."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from lm_cases import ORDERS, TEXTS, Sentences, all_histories, few, numbered, probs_after

from earshot.language.ngrams.kneser_ney import estimate
from earshot.language.ngrams.levels import word_columns
from earshot.language.ngrams.model import NGramModel
from earshot.language.ngrams.pruning import losses, prune


@few
@given(TEXTS, ORDERS, st.integers(7, 30))
@example([["e", "a"]], 3, 7)  # the one bigram is as likely as by its back-off: dropping it is free
def test_probabilities_still_sum_to_1(sentences: Sentences, order: int, most: int) -> None:
    words, ids = numbered(sentences)
    pruned = prune(estimate(words, np.array(ids, np.int32), order), most)
    assert pruned.num_ngrams <= most
    probs = probs_after(pruned, all_histories(len(words), 3))
    np.testing.assert_allclose(probs.sum(axis=1), 1.0, atol=1e-9)


@few
@given(TEXTS)
def test_a_loss_is_the_relative_entropy_to_the_model_without(sentences: Sentences) -> None:
    words, ids = numbered(sentences)
    model = estimate(words, np.array(ids, np.int32), 2)
    expected = [
        relative_entropy(model, _without(model, row)) for row in range(len(model.levels[2]))
    ]
    np.testing.assert_allclose(losses(model, 2), expected, atol=1e-9)


def relative_entropy(model: NGramModel, pruned: NGramModel) -> float:
    """Of bigrams, by the definition; histories are as likely as they were seen."""
    histories = [(word,) for word in range(len(model.words))]
    old, new = probs_after(model, histories)[:, 1:], probs_after(pruned, histories)[:, 1:]
    share = model.counts[1][:, None] / model.counts[0][0]
    return float((share * old * np.log(old / new)).sum())


def test_what_matters_most_stays() -> None:
    words, ids = numbered(["ab"] * 9 + ["cd", "dc", "ca", "ad"])
    model = estimate(words, np.array(ids, np.int32), 2)
    dearest = np.sort(np.argsort(losses(model, 2))[-5:])
    pruned = prune(model, len(model.levels[1]) + 5)
    kept = word_columns(pruned.levels, 2)
    np.testing.assert_array_equal(kept, word_columns(model.levels, 2)[dearest])


def _without(model: NGramModel, row: int) -> NGramModel:
    """A model without one of its bigrams, by the definition of a back-off."""
    level = model.levels[2]
    kept = np.arange(len(level)) != row
    numbers = np.arange(len(model.levels[1]), dtype=np.int32)
    shorter = level.only(kept, numbers)
    probs = model.probs[2][kept]
    back_offs = np.ones(len(numbers))
    for context in numbers:
        rows = shorter.contexts == context
        free = 1 - model.probs[1][shorter.words[rows]].sum()
        if free > 1e-12:
            back_offs[context] = (1 - probs[rows].sum()) / free
    return NGramModel(
        model.words,
        [*model.levels[:2], shorter],
        [*model.probs[:2], probs],
        [model.back_offs[0], back_offs],
        [*model.counts[:2], model.counts[2][kept]],
    )


def test_a_model_that_is_small_enough_is_left_alone() -> None:
    words, ids = numbered(["abab", "cab"])
    model = estimate(words, np.array(ids, np.int32), 3)
    assert prune(model, model.num_ngrams) is model


def test_single_words_are_left_alone() -> None:
    words, ids = numbered(["abab", "cab"])
    model = estimate(words, np.array(ids, np.int32), 1)
    assert prune(model, 2) is model
