"""From the checkpoints of a run to a model directory."""

from __future__ import annotations

from pathlib import Path

import torch

from earshot.models.checkpoints.own_format import save_model
from earshot.models.tokenizers.model_tokenizer import load_tokenizer
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_tokenizer.files import write_tables
from earshot.training.errors import TrainingStateError
from earshot.training.files.output_folder import make_folder
from earshot.training.recipe.config import Recipe, Stored
from earshot.training.recipe.recipe_model import model_config, recipe_decoding, start_model
from earshot.training.run.averaging import average_checkpoints, mixed_with
from earshot.training.run.prepare import units_folder
from earshot.training.run.run_identity import units_checksum
from earshot.training.run.saved_file import taking_up
from earshot.training.run.training_state import SavedRun

STORED: dict[Stored, torch.dtype] = {
    "float32": torch.float32,
    "float16": torch.float16,
    "int8": torch.int8,
}


def export(recipe: Recipe, run: Path, output: Path) -> None:
    """Averages the best checkpoints of `run` and writes them to `output`, stored as it is told.

    Raises TrainingStateError for a run that is none, broken, or of another recipe or other units,
    NoPlace for an output that is a file.
    """
    saved = SavedRun.read(run)
    tokenizer = load_tokenizer(units_folder(recipe))
    if units_checksum(tokenizer) != saved.units:
        raise TrainingStateError(f"{run} writes other units than those of {units_folder(recipe)}")
    model = U2Model(model_config(recipe, tokenizer.vocab_size))
    with taking_up(run):
        weights = average_checkpoints(saved.checkpoints)
        model.load_state_dict(weights)
    share = recipe.checkpoints.start_share
    if share > 0.0:
        began = start_model(recipe, tokenizer.vocab_size).state_dict()
        model.load_state_dict(mixed_with(weights, began, share))
    decoding, stored = recipe_decoding(recipe), STORED[recipe.checkpoints.stored]
    languages = [] if decoding is None else [recipe.network.language]
    save_model(make_folder(output), model, tokenizer, recipe.name, stored, languages)
    if decoding is not None:
        write_tables(output, decoding.tables)
