"""No path of free back-offs is cheaper than that of longest n-grams."""

import random

import numpy as np
import pytest
from stepped_cases import WORDS, Costs, random_arpa

from earshot.decoder_kernels.lm.lm_image import MOST_BACK_OFF, NEVER
from earshot.language.ngrams.arpa import Arpa, NGram
from earshot.language.ngrams.monotone import monotone
from earshot.language.ngrams.stepped_model import SteppedModel, stepped_model

SENTENCES = 40


def drawn(seed: int) -> SteppedModel:
    return stepped_model(random_arpa(seed), WORDS, (1 / 256, 1 / 64)[seed % 2])


def sentences(seed: int) -> list[list[str]]:
    draw = random.Random(seed)
    return [draw.choices(WORDS, k=draw.randint(0, 8)) for _ in range(SENTENCES)]


@pytest.mark.parametrize("seeds", [range(i, i + 30) for i in range(0, 120, 30)])
def test_the_cheapest_path_is_that_of_longest_ngrams(seeds: range) -> None:
    """4,800 sentences."""
    for seed in seeds:
        costs = Costs.of(monotone(drawn(seed)))
        for words in sentences(seed):
            assert costs.cheapest(words) == costs.sentence(words), (seed, words)


def test_without_it_shortcuts_are_cheaper() -> None:
    before = [(Costs.of(drawn(seed)), words) for seed in range(20) for words in sentences(seed)]
    assert sum(costs.cheapest(words) < costs.sentence(words) for costs, words in before) > 100


@pytest.mark.parametrize("seed", range(40))
def test_all_numbers_are_such_as_images_have(seed: int) -> None:
    model = monotone(drawn(seed))
    unit = round(1024 * model.step)
    for costs in model.costs:
        assert costs.min(initial=0) >= 0
        assert costs.max(initial=0) * unit <= NEVER
    for back_offs in model.back_offs:
        assert np.abs(back_offs).max(initial=0) * unit <= MOST_BACK_OFF


@pytest.mark.parametrize("seed", range(40))
def test_a_monotone_model_stays_as_it_is(seed: int) -> None:
    model = monotone(drawn(seed))
    again = monotone(model)
    for one, other in zip(
        (*model.costs, *model.back_offs), (*again.costs, *again.back_offs), strict=True
    ):
        assert np.array_equal(one, other)


def test_costs_and_back_offs_fall_to_what_the_shortcut_costs() -> None:
    """By hand, in steps of a quarter: 2.25 for b after a falls to 0.5 + 1, and so does the rest."""
    nat = -1 / np.log(10)
    unigrams = {(0,): NGram(1 * nat, 0.5 * nat), (1,): NGram(1 * nat, 0.25 * nat)}
    bigrams = {(0, 1): NGram(2.25 * nat, 1 * nat), (1, 1): NGram(0.5 * nat, 2 * nat)}
    trigrams = {(0, 1, 1): NGram(0.25 * nat, 0)}
    arpa = Arpa(["a", "b", "</s>"], [unigrams | {(2,): NGram(nat, 0)}, bigrams, trigrams])
    model = monotone(stepped_model(arpa, ["a", "b"], 0.25))
    assert model.costs[2].tolist() == [6, 2]
    assert model.back_offs[2].tolist() == [0, 3]  # 1.5 - 1.5 after "a b", 0.25 + 1 - 0.5
    assert model.costs[3].tolist() == [1]


def test_a_gain_that_no_image_can_say_is_raised() -> None:
    """Else b would cost 0.25 - 2 nats after a."""
    nat = -1 / np.log(10)
    unigrams = {(0,): NGram(1 * nat, -2 * nat), (1,): NGram(0.25 * nat, 0)}
    arpa = Arpa(["a", "b"], [unigrams, {(0, 1): NGram(0.5 * nat, 0)}])
    model = monotone(stepped_model(arpa, ["a", "b"], 0.25))
    assert (model.costs[2].tolist(), model.back_offs[1].tolist()) == ([0], [-1, 0])
