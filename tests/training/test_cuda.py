"""Training on a GPU: the same batches as on the CPU, and runs that go on there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.training.data.sampler import Example
from earshot.training.recipe.config import AugmentConfig, Recipe, WaveformConfig
from earshot.training.run.prepare import prepare
from earshot.training.run.run import open_run

pytestmark = pytest.mark.gpu
CUDA = torch.device("cuda")


@pytest.fixture
def sound_recipe(tone_recipe: Recipe) -> Recipe:
    return replace(
        tone_recipe,
        augment=AugmentConfig(from_step=0, spec_augment_from_step=0),
        waveform=WaveformConfig(simulated_rooms=4),
        optimiser=replace(tone_recipe.optimiser, precision="bfloat16"),
    )


def test_a_batch_of_sound_is_that_of_the_cpu(sound_recipe: Recipe) -> None:
    batches = [
        prepare(sound_recipe, device).builder.build(
            np.random.default_rng(1), [Example((3,), 0.6), Example((0, 2), 0.6)], 0
        )
        for device in (torch.device("cpu"), CUDA)
    ]
    there = batches[1].features
    assert there.device.type == "cuda"
    # Energies: the logarithm of next to nothing moves far with how its sum was rounded.
    one, other = (features.double().exp() for features in (there.cpu(), batches[0].features))
    torch.testing.assert_close(one, other, rtol=0.05, atol=1e-3)
    assert torch.equal(batches[0].feature_lengths, batches[1].feature_lengths.cpu())


def test_a_run_learns_and_goes_on_where_it_stopped(sound_recipe: Recipe, tmp_path: Path) -> None:
    open_run(sound_recipe, tmp_path, CUDA).run(stop_at_step=45)
    again = open_run(sound_recipe, tmp_path, CUDA)
    assert again.progress.step == 45
    again.run(stop_at_step=60)
    assert all(weight.isfinite().all() for weight in again.model.parameters())
    assert again.progress.kept
