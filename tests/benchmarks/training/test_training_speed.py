"""Measuring how fast a recipe trains, on noise."""

from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.training.training_speed import measure, on_noise, write_noise
from earshot.training.recipe.config import NetworkConfig, UnitsConfig, WaveformConfig, load_recipe


def test_a_recipe_is_measured_without_its_data(repository_dir: Path, tmp_path: Path) -> None:
    recipe = load_recipe(repository_dir / "training" / "recipes" / "gpu.toml")
    small = NetworkConfig(
        output_size=16, linear_units=16, num_blocks=1, decoder_linear_units=16, decoder_blocks=1
    )
    write_noise(tmp_path, recordings=3)
    recipe = replace(
        recipe,
        network=small,
        units=UnitsConfig(40),
        waveform=WaveformConfig(simulated_rooms=2),
        optimiser=replace(recipe.optimiser, threads=1),
    )
    recipe = on_noise(recipe, tmp_path, 20.0)
    row = measure(recipe, tmp_path / "run", torch.device("cpu"), updates=2)
    batch, update_ms, per_second, _ = (float(cell) for cell in row.strip("| ").split("|"))
    assert batch == 20
    assert update_ms > 0
    assert per_second > 0
