"""A file that names recipes in their order, instead of being one."""

from __future__ import annotations

from pathlib import Path

from earshot.training.errors import RecipeError
from earshot.training.recipe.config import Recipe, load_recipe
from earshot.training.recipe.recipe_file import read_document

KEY = "stages"


def load_stages(path: Path, data: Path | None = None) -> list[Recipe]:
    """The recipes that the file names, paths relative to it; of a recipe that one alone.

    Raises RecipeError for a stage that is no recipe, that starts from no model, or whose run would
    go on with another's, being of its name.
    """
    document = read_document(path)
    if KEY not in document:
        return [load_recipe(path, data)]
    names = document[KEY]
    if set(document) != {KEY} or not _are_names(names):
        raise RecipeError(f"{path}: {KEY} is a list of recipes, and stands alone")
    recipes = [load_recipe(path.parent / name, data) for name in names]
    for name, recipe in zip(names[1:], recipes[1:], strict=True):
        if recipe.start is None or recipe.start.model is None:
            raise RecipeError(f"{name}: start.model: a later stage goes on from a model")
    for name, recipe in zip(names, recipes, strict=True):
        if [each.name for each in recipes].count(recipe.name) > 1:
            raise RecipeError(f"{name}: name: another stage is called {recipe.name!r} too")
    return recipes


def load_last_stage(path: Path, data: Path | None = None) -> Recipe:
    """The recipe whose model the file makes. Raises RecipeError."""
    return load_stages(path, data)[-1]


def _are_names(names: object) -> bool:
    return isinstance(names, list) and bool(names) and all(isinstance(each, str) for each in names)
