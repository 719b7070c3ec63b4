"""A run goes on from weights in half precision and its place alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from earshot.training.errors import TrainingStateError
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.recipe_model import build_model
from earshot.training.run.prepare import Prepared
from earshot.training.run.small_state import REWARM_STEPS, SMALL_FILE, rewarmed
from earshot.training.run.trainer import Trainer
from earshot.training.run.training_state import STATE_FILE, Progress


def make_trainer(recipe: Recipe, prepared: Prepared, run: Path) -> Trainer:
    model = build_model(recipe, prepared.tokenizer.vocab_size, prepared.mean, prepared.istd)
    return Trainer(recipe, prepared, model, run)


def test_a_run_that_lost_its_moments_goes_on_from_its_place(
    with_steps: Callable[[int, int], Recipe], prepared: Prepared, tmp_path: Path
) -> None:
    recipe = with_steps(12, 100)
    first = make_trainer(recipe, prepared, tmp_path)
    first.run(stop_at_step=7)
    (tmp_path / STATE_FILE).unlink()
    second = make_trainer(recipe, prepared, tmp_path)
    assert second.resume()
    before, after = first.progress, second.progress
    assert (after.step, after.epoch, after.batch) == (before.step, before.epoch, before.batch)
    assert after.heard_seconds == before.heard_seconds
    for name, tensor in second.model.state_dict().items():
        torch.testing.assert_close(tensor, first.model.state_dict()[name], rtol=1e-3, atol=1e-4)
    second.run()
    assert second.progress.step == 12
    assert second.optimiser.param_groups[0]["lr"] < 0.1 * recipe.optimiser.peak_rate


def test_the_whole_state_comes_first(
    with_steps: Callable[[int, int], Recipe], prepared: Prepared, tmp_path: Path
) -> None:
    recipe = with_steps(12, 100)
    make_trainer(recipe, prepared, tmp_path).run(stop_at_step=5)
    again = make_trainer(recipe, prepared, tmp_path)
    assert again.resume()
    assert again.progress.warm_from == 0
    assert again.optimiser.state


def test_a_run_saves_itself_between_looks(
    with_steps: Callable[[int, int], Recipe], prepared: Prepared, tmp_path: Path
) -> None:
    recipe = with_steps(12, 100)
    recipe = replace(recipe, checkpoints=replace(recipe.checkpoints, save_minutes=1e-9))
    trainer = make_trainer(recipe, prepared, tmp_path)
    saved: list[int] = []
    trainer.model.encoder.register_forward_hook(
        lambda *call: saved.append((tmp_path / SMALL_FILE).exists())
    )
    trainer.run(stop_at_step=3)
    assert saved == [False, True, True]


def test_the_place_of_another_recipe_is_refused(
    with_steps: Callable[[int, int], Recipe], prepared: Prepared, tmp_path: Path
) -> None:
    recipe = with_steps(12, 100)
    make_trainer(recipe, prepared, tmp_path).run(stop_at_step=2)
    (tmp_path / STATE_FILE).unlink()
    other = replace(recipe, optimiser=replace(recipe.optimiser, batch_seconds=3.0))
    with pytest.raises(TrainingStateError, match="batch_seconds"):
        make_trainer(other, prepared, tmp_path).resume()


@pytest.mark.parametrize("content", [b"", b"not a file of tensors", b"\x08" + 15 * b"\x00"])
def test_a_broken_file_is_refused(
    tone_recipe: Recipe, prepared: Prepared, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / SMALL_FILE).write_bytes(content)
    with pytest.raises(TrainingStateError, match=SMALL_FILE):
        make_trainer(tone_recipe, prepared, tmp_path).resume()


def test_the_rate_rises_once_more_after_moments_were_lost() -> None:
    assert rewarmed(Progress(step=500)) == 1.0
    assert rewarmed(Progress(step=500, warm_from=500)) == 1 / REWARM_STEPS
    assert rewarmed(Progress(step=500 + REWARM_STEPS, warm_from=500)) == 1.0


def test_weights_are_half_as_large(prepared: Prepared, tone_recipe: Recipe, tmp_path: Path) -> None:
    trainer = make_trainer(tone_recipe, prepared, tmp_path)
    trainer.run(stop_at_step=1)
    numbers = sum(tensor.numel() for tensor in trainer.model.state_dict().values())
    header = int.from_bytes((tmp_path / SMALL_FILE).read_bytes()[:8], "little")
    assert (tmp_path / SMALL_FILE).stat().st_size - header - 8 < 2.1 * numbers
