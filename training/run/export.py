"""From the checkpoints of a run to a model directory."""

from __future__ import annotations

from pathlib import Path

import torch

from earshot.models.checkpoints.own_format import save_model
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.tokenizers.model_tokenizer import load_tokenizer
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_tokenizer.files import write_tables
from earshot.training.errors import TrainingStateError
from earshot.training.files.output_folder import make_folder
from earshot.training.network.grown_model import start_of
from earshot.training.recipe.checkpoint_config import Stored
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.recipe_model import model_config, recipe_decoding, start_model
from earshot.training.recipe.student_config import StudentConfig
from earshot.training.run.averaging import average_checkpoints, mixed_with
from earshot.training.run.prepare import units_folder
from earshot.training.run.run_identity import units_checksum
from earshot.training.run.saved_file import taking_up
from earshot.training.run.training_state import SavedRun
from earshot.training.student.nemo_archive import archive_place, write_archive
from earshot.training.student.student_units import student_units
from earshot.training.transducer.kept_files import keep_files

STORED: dict[Stored, torch.dtype] = {
    "float32": torch.float32,
    "float16": torch.float16,
    "int8": torch.int8,
}


def export(recipe: Recipe, run: Path, output: Path) -> None:
    """Averages the best checkpoints of `run` and writes them to `output`, stored as it is told.

    A student becomes an archive of NeMo's, `output` itself or in that folder. Raises
    TrainingStateError for a run that is none, broken, or of another recipe or other units, NoPlace
    for an output that cannot be written.
    """
    saved = SavedRun.read(run)
    if recipe.student is not None:
        _export_student(recipe, recipe.student, saved, run, output)
        return
    tokenizer = load_tokenizer(units_folder(recipe))
    _require_units(recipe, tokenizer, saved, run)
    model = _network(recipe, tokenizer.vocab_size)
    with taking_up(run):
        weights = average_checkpoints(saved.checkpoints)
        model.load_state_dict(weights)
    share = recipe.checkpoints.start_share
    if share > 0.0:
        began = start_model(recipe, tokenizer.vocab_size).state_dict()
        model.load_state_dict(mixed_with(weights, began, share))
    stored = STORED[recipe.checkpoints.stored]
    if recipe.transducer is not None:
        _save_grown(recipe, model, tokenizer, output, stored)
        return
    decoding = recipe_decoding(recipe)
    languages = [] if decoding is None else [recipe.network.language]
    save_model(make_folder(output), model, tokenizer, recipe.name, stored, languages)
    if decoding is not None:
        write_tables(output, decoding.tables)


def _require_units(recipe: Recipe, tokenizer: Tokenizer, saved: SavedRun, run: Path) -> None:
    if units_checksum(tokenizer) != saved.units:
        raise TrainingStateError(f"{run} writes other units than those of {units_folder(recipe)}")


def _export_student(
    recipe: Recipe, config: StudentConfig, saved: SavedRun, run: Path, output: Path
) -> None:
    tokenizer = student_units(units_folder(recipe))
    _require_units(recipe, tokenizer, saved, run)
    model = FastConformerModel(config.network(tokenizer.vocab_size))
    with taking_up(run):
        model.load_state_dict(average_checkpoints(saved.checkpoints))
    write_archive(archive_place(output, recipe.name), model, tokenizer, config.ctc_weight)


def _network(recipe: Recipe, vocab_size: int) -> U2Model:
    """The network that the run's weights are of."""
    if recipe.transducer is not None:
        return start_model(recipe, vocab_size)
    return U2Model(model_config(recipe, vocab_size))


def _save_grown(
    recipe: Recipe, model: U2Model, tokenizer: Tokenizer, output: Path, stored: torch.dtype
) -> None:
    """The model with its head, and all else that the one it grew on has."""
    assert recipe.start is not None
    assert recipe.start.model is not None
    start = start_of(recipe.start.model)
    folder = make_folder(output)
    save_model(folder, model, tokenizer, recipe.name, stored, start.languages, start.writer)
    keep_files(recipe.start.model, folder)
