"""Recipes are TOML files: sections become dataclasses, and paths are relative to the file."""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, get_args

from models.training.errors import RecipeError
from models.training.schedule import Schedule

Precision: TypeAlias = Literal["float32", "bfloat16"]
Section = TypeVar("Section")


def read_document(path: Path) -> dict[str, Any]:
    """What the file says. Raises RecipeError if it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecipeError(f"cannot read {path}: {error}") from error


def beside(root: Path, value: str) -> Path:
    """A path as it is written: where data is linked to from beside the checkout, there it is."""
    return Path(os.path.normpath(root / value))


def section(kind: type[Section], name: str, values: Mapping[str, Any], root: Path) -> Section:
    """A dataclass of a section's values. Raises RecipeError, naming what is wrong."""
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    unknown = set(values) - set(fields)
    if unknown:
        raise RecipeError(f"{name}: unknown keys {', '.join(sorted(unknown))}")
    arguments = {}
    for key, value in values.items():
        if fields[key].type == "Path":
            value = beside(root, value)
        elif fields[key].type == "tuple[Path, ...]":
            value = [beside(root, each) for each in value]
        arguments[key] = tuple(value) if isinstance(value, list) else value
    try:
        return kind(**arguments)
    except TypeError as error:
        raise RecipeError(f"{name}: {error}") from error


class Optimiser(Schedule, Protocol):
    """The section of any recipe that says how weights change."""

    @property
    def precision(self) -> Precision:
        """Of matrix products."""


def check_optimiser(config: Optimiser) -> None:
    """Raises RecipeError for updates out of order, or a precision that there is not."""
    if not 0 < config.warmup_steps <= config.decay_from_step < config.total_steps:
        raise RecipeError("optimiser: needs 0 < warmup_steps <= decay_from_step < total_steps")
    if config.precision not in get_args(Precision):
        raise RecipeError(f"optimiser.precision: {config.precision!r} is not float32 or bfloat16")
