"""Recipes over texts: their texts, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from earshot.models.errors import ConfigError
from earshot.training.errors import RecipeError
from earshot.training.recipe.data_root import DataPath, Roots
from earshot.training.recipe.ranges import Ranges
from earshot.training.recipe.recipe_file import read_document, section
from earshot.training.recipe.recipe_value import read_value

Recipe = TypeVar("Recipe")


@dataclass(frozen=True)
class TextConfig:
    """One text: a sentence a line, plain or packed.

    share: of all rows that are drawn, against the shares of the other texts.
    """

    path: DataPath
    share: float

    def __post_init__(self) -> None:
        Ranges("texts", self).above_zero("share")


def text_files(texts: Sequence[TextConfig], held_out: Sequence[Path]) -> list[tuple[str, Path]]:
    """Files that a run finds in the data, with the keys that name them."""
    found = [("texts.path", text.path) for text in texts]
    return found + [("held_out", path) for path in held_out]


def read_text_recipe(
    kind: type[Recipe], sections: Mapping[str, type[Any]], path: Path, data: Path | None
) -> Recipe:
    """Reads a recipe whose texts lie in `data`, or else beside it; see `data_root`.

    sections: the dataclasses of its sections. Raises RecipeError, naming what is wrong.
    """
    document, roots = read_document(path), Roots.of(path, data)
    told = read_value(tuple[Any, ...], "texts", document.pop("texts", []), roots)
    parts: dict[str, Any] = {"texts": [section(TextConfig, "texts", text, roots) for text in told]}
    for name, of_section in sections.items():
        try:
            parts[name] = section(of_section, name, document.pop(name, {}), roots)
        except ConfigError as error:
            raise RecipeError(f"{name}: {error}") from error
    return section(kind, path.name, {**document, **parts}, roots)
