"""Lookups in images say what the definition of back-off says."""

import random
from pathlib import Path

import numpy as np
import pytest
from backoff_oracle import BackoffModel, crowded_model, random_model

from earshot.decoder_kernels.lm.lm_image import NEVER, ROOT, LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa


def packed(model: BackoffModel, folder: Path) -> LmImage:
    image = folder / "model.lm"
    pack_arpa(model.write(folder), image)
    return LmImage(image)


def random_text(model: BackoffModel, seed: int, length: int) -> list[str]:
    """Words of the model and one that it lacks; half of the time an n-gram goes on."""
    draw = random.Random(seed)
    choices = [*sorted(model.words), "elsewhere"]
    longer = [ngram for ngram in model.costs if len(ngram) > 1]
    words: list[str] = []
    while len(words) < length:
        words += draw.choice(longer) if longer and draw.random() < 0.5 else [draw.choice(choices)]
    return words


@pytest.mark.parametrize("seed", range(60))
def test_costs_are_those_of_the_definition(tmp_path: Path, seed: int) -> None:
    model = random_model(seed)
    image = packed(model, tmp_path)
    words = random_text(model, seed, 400)
    state = ROOT
    history: list[str] = []
    for word, number in zip(words, image.find_words(words).tolist(), strict=True):
        cost, state = image.find(state, number)
        assert cost == model.cost(history, word), (history, word)
        # Behind a word that is not even <unk> there is no history.
        known = word in model.words or {"<unk>", "<UNK>"} & model.words
        said = word if word in model.words else "".join({"<unk>", "<UNK>"} & model.words)
        history = [*history, said] if known else []


@pytest.mark.parametrize("seed", range(8))
def test_contexts_may_have_many_children(tmp_path: Path, seed: int) -> None:
    model = crowded_model(seed, 2 + seed % 4)
    image = packed(model, tmp_path)
    words = [word for word in random_text(model, seed, 1_000) if word in model.words]
    state = ROOT
    for place, number in enumerate(image.find_words(words).tolist()):
        cost, state = image.find(state, number)
        assert cost == model.cost(words[:place], words[place])


@pytest.mark.parametrize("seed", range(60))
def test_states_are_the_ends_of_histories_that_matter(tmp_path: Path, seed: int) -> None:
    model = random_model(seed)
    image = packed(model, tmp_path)
    found: dict[tuple[str, ...], int] = {}
    for text in range(20):
        words = [word for word in random_text(model, 100 * seed + text, 12) if word in model.words]
        state = image.state_after(image.find_words(words).tolist())
        assert found.setdefault(model.state(words), state) == state
    assert len(set(found.values())) == len(found)
    assert max(found.values()) < image.header.states


@pytest.mark.parametrize("seed", range(20))
def test_any_costs_are_right_to_a_step(tmp_path: Path, seed: int) -> None:
    """Back-offs are rounded together with the cost that follows them, not each for itself."""
    model = random_model(seed, 5, whole=False)
    image = packed(model, tmp_path)
    words = [word for word in random_text(model, seed, 500) if word in model.words]
    state = ROOT
    for place, number in enumerate(image.find_words(words).tolist()):
        cost, state = image.find(state, number)
        assert abs(cost - model.cost(words[:place], words[place])) <= 1.01


def test_many_lookups_are_made_at_once(tmp_path: Path) -> None:
    model = random_model(3, 4)
    image = packed(model, tmp_path)
    words = image.find_words(random_text(model, 3, 50))
    states = np.arange(50, dtype=np.uint32) % image.header.states
    costs, after = image.look_up(states, words)
    single = [image.find(*pair) for pair in zip(states.tolist(), words.tolist(), strict=True)]
    assert list(zip(costs.tolist(), after.tolist(), strict=True)) == single


def test_leaving_a_state_costs_all_its_back_offs(tmp_path: Path) -> None:
    model = BackoffModel(
        3,
        {("a",): 10, ("b",): 20, ("a", "b"): 5, ("a", "b", "a"): 1},
        {("a",): 7, ("b",): -3, ("a", "b"): 40},
    )
    image = packed(model, tmp_path)
    assert image.back_off(image.state_after(image.find_words(["a", "b"]).tolist())) == 37
    assert image.back_off(ROOT) == 0


def test_a_context_that_is_not_listed_is_a_context_alone(tmp_path: Path) -> None:
    model = BackoffModel(3, {("a",): 10, ("b",): 20, ("a", "b", "a"): 1}, {("a",): 7})
    image = packed(model, tmp_path)
    a, b = image.find_words(["a", "b"]).tolist()
    cost, state = image.find(image.state_after([a]), b)
    assert cost == 27
    assert image.find(state, a)[0] == 1
    assert (image.header.holes, image.header.num_ngrams) == (1, 3)


def test_unknown_words_cost_what_is_asked_where_the_model_has_none(tmp_path: Path) -> None:
    model = BackoffModel(2, {("a",): 10, ("a", "a"): 1}, {("a",): 7})
    pack_arpa(model.write(tmp_path), tmp_path / "model.lm")
    (unknown,) = (image := LmImage(tmp_path / "model.lm", unknown_cost=500)).find_words(["b"])
    assert image.find(image.state_after([0]), int(unknown)) == (507, ROOT)
    assert LmImage(tmp_path / "model.lm").find(ROOT, int(unknown)) == (NEVER, ROOT)


def test_a_sentence_costs_its_words_and_its_end_after_its_start(tmp_path: Path) -> None:
    model = random_model(6, 3)
    image = packed(model, tmp_path)
    words = ["<s>", "w1", "w2", "w1", "</s>"]
    assert image.cost_of(words[1:-1]) == sum(
        model.cost(words[:place], words[place]) for place in range(1, len(words))
    )


def test_a_probability_of_one_and_of_never_have_a_cost(tmp_path: Path) -> None:
    model = BackoffModel(1, {("a",): 0, ("b",): 230_000}, {})
    image = packed(model, tmp_path)
    assert image.look_up(np.zeros(2, np.uint32), image.find_words(["a", "b"]))[0].tolist() == [
        0,
        NEVER,
    ]


def test_what_follows_many_words_is_found(tmp_path: Path) -> None:
    words = [f"w{i:03}" for i in range(900)]
    costs: dict[tuple[str, ...], float] = {(word,): 9_000.0 + i for i, word in enumerate(words)}
    costs |= {("w000", word): float(i) for i, word in enumerate(words[::2])}
    costs |= {(word, "w007"): 77.0 for word in words[1:]}
    model = BackoffModel(2, costs, {("w000",): 50})
    image = packed(model, tmp_path)
    numbers = image.find_words(words)
    after_first = np.full(900, image.state_after([int(numbers[0])]), np.uint32)
    wanted = [model.cost(["w000"], word) for word in words]
    assert image.look_up(after_first, numbers)[0].tolist() == wanted
