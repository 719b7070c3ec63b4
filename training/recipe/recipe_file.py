"""Recipes are TOML files: sections become dataclasses, paths are relative to file or data."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, get_type_hints

from earshot.training.errors import RecipeError
from earshot.training.recipe.data_root import Roots
from earshot.training.recipe.ranges import Ranges
from earshot.training.recipe.recipe_value import as_table, read_value
from earshot.training.recipe.schedule import Schedule

Precision: TypeAlias = Literal["float32", "bfloat16"]
Section = TypeVar("Section")
COMMON = "common"


def read_document(path: Path) -> dict[str, Any]:
    """What the file says. Raises RecipeError if it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # a path or a number may be none, too
        raise RecipeError(f"cannot read {path}: {error}") from error


def read_with_common(path: Path) -> dict[str, Any]:
    """What the file says, and where it says nothing, what the files that it names as `common` do.

    These lie relative to the file, the later ones count more; paths in them are relative to the
    file that names them. Raises RecipeError if one cannot be read or names others.
    """
    own = read_document(path)
    names = own.pop(COMMON, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RecipeError(f"{path}: {COMMON} is a list of files")
    merged: dict[str, Any] = {}
    for name in names:
        common = read_document(path.parent / name)
        if COMMON in common:
            raise RecipeError(f"{name}: {COMMON} belongs into recipes alone")
        merged = _merged(merged, common)
    return _merged(merged, own)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Tables are put together, key by key."""
    found = below | above
    for name in below.keys() & above.keys():
        if isinstance(below[name], dict) and isinstance(above[name], dict):
            found[name] = _merged(below[name], above[name])
    return found


def section(kind: type[Section], name: str, values: object, roots: Roots) -> Section:
    """A dataclass of a section's values. Raises RecipeError, naming what is wrong."""
    table, kinds = as_table(name, values), get_type_hints(kind, include_extras=True)
    unknown = set(table) - set(kinds)
    if unknown:
        raise RecipeError(
            f"{name}: unknown keys {', '.join(sorted(unknown))}; there are {', '.join(kinds)}"
        )
    arguments = {
        key: read_value(kinds[key], f"{name}.{key}", value, roots) for key, value in table.items()
    }
    try:
        return kind(**arguments)
    except TypeError as error:
        raise RecipeError(f"{name}: {error}") from error


def check_schedule(config: Schedule) -> None:
    """Raises RecipeError for updates out of order, or a rate that is none."""
    if not 0 < config.warmup_steps <= config.decay_from_step < config.total_steps:
        raise RecipeError("optimiser: needs 0 < warmup_steps <= decay_from_step < total_steps")
    Ranges("optimiser", config).above_zero("peak_rate")
