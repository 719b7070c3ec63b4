"""Texts by a mix of models cost what the sums of lookups say."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from backoff_oracle import BackoffModel, random_model

from earshot.decoder_kernels.lm.class_names import class_token
from earshot.decoder_kernels.lm.lm_header import NO_WORD
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, ROOT, LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa
from earshot.decoder_kernels.lm.lm_texts import MixedLm, WordClass, WordOrClass, WordTexts
from earshot.decoder_kernels.native import kernels

SHARES = {1: (1.0,), 2: (0.7, 0.3), 3: (0.5, 0.4, 0.1)}
WORDS = ("w0", "w1", "w2", "elsewhere", None)


def images(count: int, seed: int, folder: Path, *, with_classes: bool = False) -> list[LmImage]:
    """with_classes: the first has the classes a and b, the second a, the others none."""
    found = []
    for number in range(count):
        place = folder / str(number)
        place.mkdir()
        model = random_model(seed + 100 * number)
        if with_classes:
            model = renamed(model, {f"w{n + 2}": f"<{c}>" for n, c in enumerate("ab"[number:])})
        pack_arpa(model.write(place), place / "model.lm")
        found.append(LmImage(place / "model.lm"))
    return found


def renamed(model: BackoffModel, names: Mapping[str, str]) -> BackoffModel:
    def of(listed: Mapping[tuple[str, ...], float]) -> dict[tuple[str, ...], float]:
        return {tuple(names.get(w, w) for w in ngram): cost for ngram, cost in listed.items()}

    return replace(model, costs=of(model.costs), back_offs=of(model.back_offs))


def texts_of(rows: Sequence[Sequence[int]]) -> WordTexts:
    places = np.array([word for row in rows for word in row], np.int64)
    return WordTexts(WORDS, places, np.cumsum([len(row) for row in rows], dtype=np.int64))


def oracle(mix: MixedLm, text: Sequence[WordOrClass], before: Sequence[str]) -> float:
    """Word by word in Python: `-log sum(share * p)`; who lacks a class says nothing of it."""
    states = []
    for image in mix.images:
        numbers = image.find_words(before).tolist()
        if before and before[0] == "<s>" and numbers[0] == NO_WORD:
            numbers = numbers[1:]
        states.append(image.state_after(numbers, ROOT))
    total = 0.0
    for word in text:
        prob = 0.0
        for place, (image, share) in enumerate(zip(mix.images, mix.shares, strict=True)):
            name = class_token(word.name) if isinstance(word, WordClass) else word
            number = NO_WORD if name is None else image.find_words([name]).tolist()[0]
            cost, states[place] = image.find(states[place], number)
            if isinstance(word, WordClass) and number == NO_WORD:
                continue
            prob += share * math.exp(-cost / COST_STEPS)
        total -= math.log(prob)
    return total


def random_rows(seed: int) -> list[list[int]]:
    """Texts of which many begin alike, sorted and not; some are empty, some come twice."""
    draw = random.Random(seed)
    rows = [[draw.randrange(len(WORDS)) for _ in range(draw.randrange(7))] for _ in range(30)]
    return sorted(rows[:15]) + rows


@pytest.mark.parametrize("count", SHARES)
@pytest.mark.parametrize("seed", range(12))
def test_texts_cost_what_the_sums_of_lookups_say(tmp_path: Path, count: int, seed: int) -> None:
    mix = MixedLm(images(count, seed, tmp_path), SHARES[count])
    rows = random_rows(seed)
    for before in ((), ("<s>",), ("<s>", "w0", "elsewhere", "w1"), ("w1", "w0")):
        found = mix.costs(texts_of(rows), before)
        wanted = [oracle(mix, [WORDS[word] for word in row], before) for row in rows]
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_members_of_classes_cost_their_class_and_what_they_add(tmp_path: Path, seed: int) -> None:
    mix = MixedLm(images(3, seed, tmp_path, with_classes=True), SHARES[3])
    words: list[WordOrClass] = ["w0", WordClass("b"), WordClass("a"), WordClass("a"), None, "w1"]
    added = [0.0, 0.5, 2.25, 1.0]
    draw = random.Random(seed)
    rows = [[draw.randrange(len(words)) for _ in range(draw.randrange(7))] for _ in range(30)]
    places = np.array([word for row in rows for word in row], np.int64)
    ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
    found = mix.costs(WordTexts(words, places, ends, added), ("<s>", "w0"))
    wanted = [
        oracle(mix, [words[word] for word in row], ("<s>", "w0"))
        + sum(added[word] for word in row if word < len(added))
        for row in rows
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-9)


def test_a_class_that_no_model_has_is_an_unknown_word(tmp_path: Path) -> None:
    mix = MixedLm(images(2, 1, tmp_path), SHARES[2])
    places, ends = np.array([0, 1, 0]), np.array([3])
    costs = [mix.costs(WordTexts([word, "w0"], places, ends)) for word in (WordClass("name"), None)]
    assert costs[0] == costs[1]


def test_one_model_counts_in_whole_steps(tmp_path: Path) -> None:
    mix = MixedLm(images(1, 3, tmp_path), (1.0,))
    steps = mix.costs(texts_of(random_rows(3))) * COST_STEPS
    assert (steps == np.round(steps)).all()
    assert steps.any()


def test_a_closed_text_has_the_end_of_a_sentence_behind_it(tmp_path: Path) -> None:
    mix = MixedLm(images(2, 5, tmp_path), SHARES[2])
    rows = random_rows(5)
    closed = texts_of(rows).closed()
    wanted = [oracle(mix, [*(WORDS[word] for word in row), "</s>"], ("<s>",)) for row in rows]
    np.testing.assert_allclose(mix.costs(closed), wanted, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("ends", [[2, 1], [-1, 2], [1, 4]])
def test_ends_that_lie_outside_are_refused(tmp_path: Path, ends: list[int]) -> None:
    mix = MixedLm(images(1, 1, tmp_path), (1.0,))
    with pytest.raises(ValueError, match="do not ascend"):
        mix.costs(WordTexts(WORDS, np.array([0, 1, 2]), np.array(ends)))


def test_a_start_that_is_no_state_is_that_of_no_words(tmp_path: Path) -> None:
    [image] = images(1, 2, tmp_path)
    words = image.find_words(["w0", "w1"])[np.newaxis]
    costs = np.zeros((2, 1))
    for start, found in zip((2**32 - 1, ROOT), costs, strict=True):
        starts = np.array([start], np.uint32)
        mix = kernels.LmMixture((image.native,), np.zeros(1), starts, words, np.zeros(2))
        mix.price(np.array([2]), found)
    assert costs[0] == costs[1] > 0


@pytest.mark.parametrize("shares", [[], [0.0, 0.0]])
def test_as_many_shares_are_needed_as_images(tmp_path: Path, shares: list[float]) -> None:
    [image] = images(1, 2, tmp_path)
    words, starts = np.zeros((1, 1), np.uint32), np.zeros(1, np.uint32)
    with pytest.raises(ValueError, match="as many shares"):
        kernels.LmMixture((image.native,), np.array(shares), starts, words, np.zeros(1))


def test_many_words_are_found_as_one_is(tmp_path: Path) -> None:
    [image] = images(1, 4, tmp_path)
    words = [*(f"w{n}" for n in range(9)), "elsewhere", "", "<s>", "</s>", "é"]
    assert image.find_words(iter(words)).tolist() == [image.native.find_word(w) for w in words]
