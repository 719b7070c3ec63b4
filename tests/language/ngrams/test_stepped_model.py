"""Rounded models say of texts what the model says, up to their steps."""

import random

import numpy as np
import pytest
from stepped_cases import WORDS, Costs, random_arpa

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.language.ngrams.arpa import Arpa, NGram
from earshot.language.ngrams.levels import word_columns
from earshot.language.ngrams.stepped_model import ABSENT, stepped_model


@pytest.mark.parametrize("seed", range(60))
def test_texts_cost_what_they_cost_up_to_half_a_step_for_each_number(seed: int) -> None:
    arpa = random_arpa(seed)
    model = stepped_model(arpa, WORDS)
    exact, rounded = Costs.of_arpa(arpa), Costs.of(model)
    draw = random.Random(seed)
    for _ in range(20):
        history = tuple(draw.choices(WORDS, k=draw.randint(0, model.order - 1)))
        word = draw.choice([*WORDS, "</s>"])
        found, wanted = rounded.word(history, word) * model.step, exact.word(history, word)
        if wanted >= 0:  # a probability above 1 is limited to 1 where n-grams are put in
            assert found == pytest.approx(wanted, abs=model.order * model.step / 2 + 1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_contexts_and_suffixes_of_all_ngrams_are_there(seed: int) -> None:
    model = stepped_model(random_arpa(seed), WORDS)
    rows = [set(map(tuple, word_columns(model.levels, n).tolist())) for n in range(model.order + 1)]
    for n in range(2, model.order + 1):
        assert {words[:-1] for words in rows[n]} | {words[1:] for words in rows[n]} <= rows[n - 1]
        level = model.levels[n]
        assert (np.diff(level.keys) > 0).all()
        suffixes = word_columns(model.levels, n - 1)[level.suffixes]
        assert np.array_equal(suffixes, word_columns(model.levels, n)[:, 1:])


def test_ngrams_with_words_that_are_not_kept_are_left_out() -> None:
    arpa = random_arpa(3, order=3)
    model = stepped_model(arpa, ["a", "c"])
    texts = {arpa.words[word] for level in model.levels[1:] for word in level.words.tolist()}
    assert texts == {"<s>", "</s>", "a", "c"}
    left = [g for ngrams in arpa.orders for g in ngrams if "b" not in [arpa.words[w] for w in g]]
    assert model.listed == len(left)


def test_costs_are_limited_to_what_an_image_can_say() -> None:
    arpa = Arpa(
        ["<s>", "</s>", "a"],
        [{(0,): NGram(-99, -99), (1,): NGram(-99, 0), (2,): NGram(-1, 10)}, {(2, 2): NGram(-1, 0)}],
    )
    model = stepped_model(arpa, ["a"], 1 / 256)
    assert model.costs[1].tolist()[:2] == [16_383, 16_383]
    assert model.back_offs[1].tolist() == [8_191, 0, int(-10 * 256 * np.log(10))]


def test_an_unknown_word_costs_what_the_model_says_or_as_much_as_its_rarest() -> None:
    unigrams = {(0,): NGram(-1, 0), (1,): NGram(-2, 0)}
    with_unknown = Arpa(["a", "b", "<unk>"], [unigrams | {(2,): NGram(-40, 0)}])
    assert stepped_model(with_unknown, ["a", "b"]).unknown == round(40 * 256 * np.log(10))
    assert stepped_model(Arpa(["a", "b"], [unigrams]), ["a", "b"]).unknown == 1179
    assert stepped_model(Arpa(["a", "b"], [unigrams]), ["a", "b"]).start == ABSENT


@pytest.mark.parametrize("step", [0.0, -0.25, 0.1, 2.0**-9, 0.5, float("nan")])
def test_steps_that_are_no_power_of_two_or_out_of_range_are_refused(step: float) -> None:
    with pytest.raises(GraphSourceError, match=r"no power of two from 0\.00390625 to 0\.25"):
        stepped_model(random_arpa(1), WORDS, step)
