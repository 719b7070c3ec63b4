"""Phones as a second target: the lexicon, the labels, and what the head learns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.models.checkpoints.own_format import save_model
from earshot.training.corpus.utterance import Utterance
from earshot.training.data.sampler import Example
from earshot.training.errors import CorpusError, RecipeError
from earshot.training.files.cmudict import read_lexicon
from earshot.training.phones.phones import PhoneLabels
from earshot.training.recipe.config import PhoneConfig, Recipe, StartConfig
from earshot.training.recipe.recipe_model import build_model
from earshot.training.run.prepare import prepare
from earshot.training.run.trainer import Trainer


def spoken(*texts: str) -> list[Utterance]:
    return [Utterance(Path("x"), "clips", "somebody", 0.3, text) for text in texts]


def test_the_phones_of_joined_clips_follow_each_other(lexicon: Path) -> None:
    labels = PhoneLabels.of(spoken("low", "high low"), read_lexicon(lexicon))
    low, high_low = labels.utterances
    assert low is not None
    assert high_low is not None
    assert high_low[-2:] == low
    assert labels.example(Example((1, 0), 1.0)) == high_low + low
    assert 0 not in high_low  # the blank
    assert labels.count == 8


def test_an_unknown_word_leaves_its_utterance_without_phones(lexicon: Path) -> None:
    labels = PhoneLabels.of(spoken("low", "low gargle"), read_lexicon(lexicon))
    assert labels.example(Example((0,), 1.0)) is not None
    assert labels.example(Example((0, 1), 1.0)) is None


def test_a_lexicon_of_other_words_is_an_error(lexicon: Path) -> None:
    with pytest.raises(CorpusError, match="every utterance"):
        PhoneLabels.of(spoken("gargle", ""), read_lexicon(lexicon))


@pytest.fixture
def phone_trainer(
    with_steps: Callable[[int, int], Recipe], lexicon: Path
) -> Callable[[Path], Trainer]:
    """Makes trainers of one recipe with phones, 20 updates long."""
    recipe = replace(with_steps(20, 20), phones=PhoneConfig(lexicon, block=1, weight=0.5))
    ready = prepare(recipe)

    def make(run: Path) -> Trainer:
        model = build_model(recipe, ready.tokenizer.vocab_size, ready.mean, ready.istd)
        return Trainer(recipe, ready, model, run)

    return make


def phone_loss(trainer: Trainer, step: int = 0) -> float:
    """Of all training utterances, without augmentation."""
    assert trainer.objective.phones is not None
    examples = [Example((index,), 0.6) for index in range(8)]
    batch = trainer.prepared.builder.build(np.random.default_rng(1), examples, 0)
    with torch.no_grad():
        trainer.model.encoder(batch.features, batch.feature_lengths)
        return float(trainer.objective.phones.of(batch, examples, step))


def test_the_head_learns_the_phones(
    phone_trainer: Callable[[Path], Trainer], tmp_path: Path
) -> None:
    trainer = phone_trainer(tmp_path)
    before = phone_loss(trainer)
    trainer.run()
    assert phone_loss(trainer) < 0.5 * before


def test_utterances_with_unknown_words_cost_nothing(
    phone_trainer: Callable[[Path], Trainer], tmp_path: Path
) -> None:
    trainer = phone_trainer(tmp_path)
    assert trainer.objective.phones is not None
    trainer.objective.phones._labels = PhoneLabels([None] * 8, 9)
    assert phone_loss(trainer) == 0.0


def test_an_interrupted_run_goes_on_with_its_head(
    phone_trainer: Callable[[Path], Trainer], tmp_path: Path
) -> None:
    whole = phone_trainer(tmp_path / "whole")
    whole.run(stop_at_step=6)
    phone_trainer(tmp_path / "parts").run(stop_at_step=3)
    rest = phone_trainer(tmp_path / "parts")
    rest.resume()
    rest.run(stop_at_step=6)
    assert whole.side_head is not None
    assert rest.side_head is not None
    for name, tensor in whole.side_head.state_dict().items():
        assert torch.equal(tensor, rest.side_head.state_dict()[name]), name


def test_the_model_does_not_hold_a_head_in_the_middle(
    phone_trainer: Callable[[Path], Trainer], tmp_path: Path
) -> None:
    assert not [name for name in phone_trainer(tmp_path).model.state_dict() if "phone" in name]


@pytest.fixture
def own_head_trainer(
    with_steps: Callable[[int, int], Recipe], lexicon: Path
) -> Callable[[Path], Trainer]:
    """Makes trainers whose model keeps its head, with CTC-CRF from update 10 on."""
    phones = PhoneConfig(lexicon, weight=0.5, rate=2, sequence_from_step=10)
    recipe = replace(with_steps(20, 20), phones=phones)
    ready = prepare(recipe)

    def make(run: Path) -> Trainer:
        model = build_model(recipe, ready.tokenizer.vocab_size, ready.mean, ready.istd)
        return Trainer(recipe, ready, model, run)

    return make


def test_the_models_own_head_learns_the_phones_and_stays_with_it(
    own_head_trainer: Callable[[Path], Trainer], tmp_path: Path
) -> None:
    trainer = own_head_trainer(tmp_path)
    assert trainer.side_head is None
    before = phone_loss(trainer)
    trainer.run()
    assert phone_loss(trainer) < 0.5 * before
    config = trainer.model.config
    assert config.phones == ("AY", "D", "HH", "IH", "L", "M", "OW")
    assert trainer.model.state_dict()["phone_ctc.ctc_lo.weight"].size(0) == 2 * 8


def test_from_the_step_asked_for_on_other_phones_count_against_the_loss(
    own_head_trainer: Callable[[Path], Trainer], tmp_path: Path
) -> None:
    trainer = own_head_trainer(tmp_path)
    assert trainer.objective.phones is not None
    plain, sequence = phone_loss(trainer, 9), phone_loss(trainer, 10)
    share = trainer.objective.phones.config.sequence_ctc_share
    # The sum over all that could be said is at most one.
    assert sequence < (1.0 + share) * plain


def test_an_utterance_too_short_for_its_phones_costs_nothing(
    own_head_trainer: Callable[[Path], Trainer], tmp_path: Path
) -> None:
    trainer = own_head_trainer(tmp_path)
    assert trainer.objective.phones is not None
    trainer.objective.phones._labels = PhoneLabels([(1, 2) * 500] * 8, 8)
    assert phone_loss(trainer, 9) == 0.0
    assert phone_loss(trainer, 10) == 0.0


def test_a_run_may_start_from_a_model_without_phones(
    tone_recipe: Recipe, own_head_trainer: Callable[[Path], Trainer], tmp_path: Path
) -> None:
    ready = prepare(tone_recipe)
    plain = build_model(tone_recipe, ready.tokenizer.vocab_size, ready.mean, ready.istd)
    save_model(tmp_path / "plain", plain, ready.tokenizer, "plain")
    recipe = own_head_trainer(tmp_path / "run").recipe
    recipe = replace(recipe, start=StartConfig(tmp_path / "plain"))
    model = build_model(recipe, ready.tokenizer.vocab_size, ready.mean, ready.istd)
    assert model.phone_ctc is not None
    for name, tensor in plain.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name]), name


def test_a_model_with_other_phones_is_no_start(
    own_head_trainer: Callable[[Path], Trainer], tmp_path: Path
) -> None:
    trainer = own_head_trainer(tmp_path / "run")
    phones = trainer.model.config.phones
    trainer.model.config = replace(trainer.model.config, phones=("Q", *phones[1:]))
    tokenizer = trainer.prepared.tokenizer
    save_model(tmp_path / "other", trainer.model, tokenizer, "other")
    recipe = replace(trainer.recipe, start=StartConfig(tmp_path / "other"))
    with pytest.raises(RecipeError, match="other phones"):
        build_model(recipe, tokenizer.vocab_size, trainer.prepared.mean, trainer.prepared.istd)


@pytest.mark.parametrize(("block", "weight"), [(0, 0.3), (2, 0.3), (1, 1.0)])
def test_blocks_and_weights_that_cannot_be_are_refused(
    tone_recipe: Recipe, lexicon: Path, block: int, weight: float
) -> None:
    with pytest.raises(RecipeError, match="phones"):
        replace(tone_recipe, phones=PhoneConfig(lexicon, block, weight))
