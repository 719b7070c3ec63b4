"""From the checkpoints of a run to a model directory."""

from __future__ import annotations

from pathlib import Path

import torch

from models.checkpoint import save_model
from models.tokenizer import load_tokenizer
from models.training.averaging import average_checkpoints
from models.training.config import Recipe
from models.training.errors import TrainingStateError
from models.training.output_folder import make_folder
from models.training.prepare import units_folder
from models.training.recipe_model import model_config
from models.training.run_identity import units_checksum
from models.training.saved_file import taking_up
from models.training.training_state import SavedRun
from models.u2 import U2Model


def export(recipe: Recipe, run: Path, output: Path) -> None:
    """Averages the best checkpoints of `run` and writes them to `output` in half precision.

    Raises TrainingStateError for a run that is none, broken, or of another recipe or other units,
    NoPlace for an output that is a file.
    """
    saved = SavedRun.read(run)
    tokenizer = load_tokenizer(units_folder(recipe))
    if units_checksum(tokenizer) != saved.units:
        raise TrainingStateError(f"{run} writes other units than those of {units_folder(recipe)}")
    model = U2Model(model_config(recipe, tokenizer.vocab_size))
    with taking_up(run):
        model.load_state_dict(average_checkpoints(saved.checkpoints))
    save_model(make_folder(output), model, tokenizer, recipe.name, dtype=torch.float16)
