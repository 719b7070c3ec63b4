"""One run in one folder: begun, or taken up where it stopped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import torch

from earshot.training.errors import DeviceMissing, RecipeError
from earshot.training.files.output_folder import make_folder
from earshot.training.network.trained_model import TrainedModel
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.data_root import require_data
from earshot.training.recipe.recipe_model import build_model
from earshot.training.run.prepare import Prepared, prepare
from earshot.training.run.trainer import Trainer
from earshot.training.student.student_model import fresh_student

DeviceChoice = Literal["auto", "cpu", "cuda"]
DEVICE_CHOICES: tuple[DeviceChoice, ...] = ("auto", "cpu", "cuda")


def choose_device(choice: DeviceChoice) -> torch.device:
    """`auto` is the GPU where there is one. Raises DeviceMissing for a GPU that is not there."""
    found = torch.cuda.is_available()
    if choice == "cuda" and not found:
        raise DeviceMissing("torch finds no CUDA device here: train with device cpu")
    return torch.device("cuda" if found and choice != "cpu" else "cpu")


def default_folder(recipe: Recipe) -> Path:
    """Where the run of a recipe goes if nobody says otherwise."""
    return recipe.data.work_dir / "runs" / recipe.name


def open_run(recipe: Recipe, folder: Path, device: torch.device) -> Trainer:
    """A trainer ready to go, at update 0 or where the run in `folder` stopped.

    Raises RecipeError for a start that is not there or another network, ModelError for one that is
    broken, CorpusError for data that is missing or broken, TrainingStateError for a folder that
    holds the run of another recipe, NoPlace for one that cannot be made.
    """
    start = None if recipe.start is None else recipe.start.model
    if start is not None and not start.is_dir():
        raise RecipeError(f"start.model: there is no model at {start}")
    require_data(recipe.data_files)
    make_folder(folder)  # now, and not when everything is decoded
    torch.set_num_threads(min(recipe.optimiser.threads, os.cpu_count() or 1))
    prepared = prepare(recipe, device)
    model = _fresh(recipe, prepared)
    trainer = Trainer(recipe, prepared, model.to(device), folder)
    trainer.resume()
    return trainer


def _fresh(recipe: Recipe, prepared: Prepared) -> TrainedModel:
    """The network of a recipe before its first update."""
    units, mean, istd = prepared.tokenizer.vocab_size, prepared.mean, prepared.istd
    if recipe.student is None:
        return build_model(recipe, units, mean, istd)
    return fresh_student(recipe.student.network(units), mean, istd, recipe.optimiser.seed)
