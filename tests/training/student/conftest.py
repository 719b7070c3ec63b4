"""A recipe of seconds for a student of the tones, and its teacher."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from earshot.training.recipe.config import NetworkConfig, Recipe, StartConfig, WaveformConfig
from earshot.training.recipe.student_config import StudentConfig
from earshot.training.run.export import export
from earshot.training.run.run import open_run

STUDENT = StudentConfig(
    mel_bins=40,
    size=32,
    layers=2,
    heads=2,
    stem_channels=8,
    kernel=5,
    contexts=((4, 1), (4, 0)),
    predictor_size=16,
    joint_size=24,
    dropout=0.0,
)


@pytest.fixture(scope="session")
def teacher(tone_recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that writes the tones by CTC, with frames of 40 ms."""
    run, model = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("teacher")
    open_run(tone_recipe, run, torch.device("cpu")).run()
    export(tone_recipe, run, model)
    return model


@pytest.fixture
def recipe(tone_recipe: Recipe, teacher: Path) -> Recipe:
    return replace(
        tone_recipe,
        name="student",
        start=StartConfig(model=teacher),
        student=STUDENT,
        network=NetworkConfig(),
        waveform=WaveformConfig(speeds=(1.0,), clip_speeds=(1.0,), simulated_rooms=2),
        optimiser=replace(
            tone_recipe.optimiser, peak_rate=1e-2, warmup_steps=10, decay_from_step=180,
            total_steps=240,
        ),
        checkpoints=replace(tone_recipe.checkpoints, save_every=60, stored="float32"),
    )  # fmt: skip
