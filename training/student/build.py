"""The loss of a recipe's student, with its teacher."""

from __future__ import annotations

from earshot.models.checkpoints.assembly import u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.training.errors import RecipeError
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.student_config import STEM
from earshot.training.student.student_loss import PAIR, StudentLoss
from earshot.training.student.student_units import teacher_units


def build_student_loss(
    recipe: Recipe, model: FastConformerModel, tokenizer: Tokenizer
) -> StudentLoss:
    """The loss of `model`, taught by the model of [start], on the device that it is on.

    Raises ModelError for a teacher that is missing or broken, RecipeError for one whose frames are
    not half as long as the student's, or with other units.
    """
    assert recipe.student is not None
    assert recipe.start is not None
    assert recipe.start.model is not None
    loaded = load_model(recipe.start.model)
    teacher = u2_of(loaded)
    if PAIR * teacher.encoder.subsampling_rate != STEM.rate:
        raise RecipeError(f"start.model: frames of {recipe.start.model} are not of 40 ms")
    device = model.features.window.device
    units = teacher_units(tokenizer, loaded.tokenizer).to(device)
    return StudentLoss(model, teacher.to(device), units, recipe.student)
