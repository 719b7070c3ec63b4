"""Runs that train a head on a model that stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.training.errors import RecipeError
from earshot.training.measuring.greedy import greedy_texts, transducer_tokens
from earshot.training.recipe.config import PhoneConfig, Recipe, StartConfig, WaveformConfig
from earshot.training.recipe.transducer_config import TransducerTrainingConfig
from earshot.training.run.export import export
from earshot.training.run.run import open_run
from earshot.training.run.small_state import SMALL_FILE
from earshot.training.run.trainer import LOG_FILE

CPU = torch.device("cpu")
RNNT = TransducerTrainingConfig(predictor_size=16, joint_size=24, dropout=0.0, window_labels=12)
TDT = replace(RNNT, durations=(0, 1, 2, 4), sigma=0.02)


@pytest.fixture(scope="module")
def start(tone_recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that writes the tones by CTC, with a part beside its network."""
    run, model = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("start")
    open_run(tone_recipe, run, CPU).run()
    export(tone_recipe, run, model)
    (model / "lexicon.txt").write_text("low L OW\n")
    (model / "LICENSE.md").write_text("as you like\n")
    (model / "CARD.md").write_text("what the model was\n")
    return model


@pytest.fixture(params=[RNNT, TDT], ids=["rnnt", "tdt"])
def recipe(request: pytest.FixtureRequest, tone_recipe: Recipe, start: Path) -> Recipe:
    return replace(
        tone_recipe,
        name="head",
        start=StartConfig(model=start),
        transducer=request.param,
        optimiser=replace(
            tone_recipe.optimiser, peak_rate=1e-2, warmup_steps=5, decay_from_step=180,
            total_steps=260,
        ),
        checkpoints=replace(tone_recipe.checkpoints, save_every=65, stored="float32"),
    )  # fmt: skip


def test_a_head_learns_to_write_and_its_model_stays(
    recipe: Recipe, start: Path, tmp_path: Path
) -> None:
    trainer = open_run(recipe, tmp_path / "run", CPU)
    trainer.run()
    log = [json.loads(line) for line in (tmp_path / "run" / LOG_FILE).read_text().splitlines()]
    losses = [row["loss_per_token"] for row in log if "loss_per_token" in row]
    assert losses[-1] < 0.1 * losses[0]
    assert log[-1]["dev_wer"] == 0.0
    export(recipe, tmp_path / "run", tmp_path / "model")
    loaded, before = load_model(tmp_path / "model"), u2_of(load_model(start)).state_dict()
    grown = u2_of(loaded)
    assert all(torch.equal(grown.state_dict()[name], each) for name, each in before.items())
    dev = trainer.prepared.dev
    texts = greedy_texts(grown, loaded.tokenizer, dev, 8, transducer_tokens)
    assert texts == [utterance.text for utterance in dev.utterances]


def test_an_exported_model_keeps_what_it_had(recipe: Recipe, tmp_path: Path) -> None:
    open_run(recipe, tmp_path / "run", CPU).run(stop_at_step=65)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "lm.graph").touch()
    export(recipe, tmp_path / "run", tmp_path / "model")
    assert (tmp_path / "model" / "lexicon.txt").read_text() == "low L OW\n"
    assert (tmp_path / "model" / "LICENSE.md").read_text() == "as you like\n"
    assert not (tmp_path / "model" / "CARD.md").exists()
    assert not (tmp_path / "model" / "lm.graph").exists()  # of what was there before
    head = load_model(tmp_path / "model").model.config.transducer
    assert head.durations == recipe.transducer.durations


def test_a_run_goes_on_where_it_stopped(recipe: Recipe, tmp_path: Path) -> None:
    whole = open_run(recipe, tmp_path / "whole", CPU)
    whole.run(stop_at_step=20)
    open_run(recipe, tmp_path / "parts", CPU).run(stop_at_step=9)
    rest = open_run(recipe, tmp_path / "parts", CPU)
    assert rest.progress.step == 9
    rest.run(stop_at_step=20)
    ours, theirs = rest.model.state_dict(), whole.model.state_dict()
    assert all(torch.equal(ours[name], each) for name, each in theirs.items())
    assert not (tmp_path / "parts" / SMALL_FILE).exists()


def test_a_model_grows_one_head(recipe: Recipe, tmp_path: Path) -> None:
    open_run(recipe, tmp_path / "run", CPU).run(stop_at_step=65)
    export(recipe, tmp_path / "run", tmp_path / "model")
    again = replace(recipe, start=StartConfig(model=tmp_path / "model"))
    with pytest.raises(RecipeError, match="has a transducer's head already"):
        open_run(again, tmp_path / "again", CPU)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": None}, "a head grows on a trained model"),
        ({"phones": PhoneConfig(lexicon=Path("lexicon"))}, "nothing else is learnt"),
        ({"group_rates": {"encoder": 1e-4}}, "the head learns by peak_rate"),
        ({"start_share": 0.5}, "a head begins with nothing"),
    ],
)
def test_a_recipe_for_a_head_trains_nothing_else(
    recipe: Recipe,
    with_changes: Callable[[Recipe, Mapping[str, object]], Recipe],
    changes: dict[str, object],
    message: str,
) -> None:
    with pytest.raises(RecipeError, match=message):
        with_changes(recipe, changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"durations": (0,)}, "transducer: durations"),
        ({"durations": (1, 1)}, "transducer: durations"),
        ({"joint_size": 0}, "transducer: joint_size"),
    ],
)
def test_a_head_that_cannot_be_is_refused(
    recipe: Recipe, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    config = replace(recipe.transducer, **changes)
    with pytest.raises(RecipeError, match=message):
        open_run(replace(recipe, transducer=config), tmp_path / "run", CPU)


@pytest.mark.parametrize("changes", [{"dropout": 0.95}, {"sigma": -0.1}, {"window_labels": 2}])
def test_numbers_out_of_range_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(RecipeError, match=f"transducer.{next(iter(changes))}"):
        replace(RNNT, **changes)


def test_a_head_can_learn_by_sound(recipe: Recipe, tmp_path: Path) -> None:
    by_sound = replace(
        recipe,
        data=replace(recipe.data, work_dir=tmp_path / "work"),
        waveform=WaveformConfig(simulated_rooms=2, speeds=(0.9, 1.0), clip_speeds=(1.0, 1.1)),
        augment=replace(recipe.augment, from_step=0, noise_snr_db=(20.0, 35.0)),
    )
    trainer = open_run(by_sound, tmp_path / "run", CPU)
    trainer.run(stop_at_step=20)
    log = [json.loads(line) for line in (tmp_path / "run" / LOG_FILE).read_text().splitlines()]
    losses = [row["loss_per_token"] for row in log if "loss_per_token" in row]
    assert losses[-1] < losses[0]
