"""Values of TOML as the type that a recipe's field has."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from earshot.models.errors import quote
from earshot.training.errors import RecipeError
from earshot.training.recipe.data_root import DataPath, Roots

MOST = 2**63 - 1
"""TOML promises no larger whole number (its version 1.0, "Integer")."""

WANTED = {bool: "true or false", int: "a whole number", str: "text"}


def beside(root: Path, value: str) -> Path:
    """A path as it is written: where data is linked to from beside the checkout, there it is."""
    return Path(os.path.normpath(root / value))


def read_value(kind: Any, name: str, value: object, roots: Roots) -> Any:
    """`value` as `kind`, the annotation of a field, which says which root a path is relative to.

    Raises RecipeError, naming the field, if it is something else.
    """
    origin = get_origin(kind)
    if kind is float:
        return _number(name, value)
    if kind in WANTED:
        _require(type(value) is kind and not _too_large(value), name, value, WANTED[kind])
        return value
    if kind in (Path, DataPath):
        _require(isinstance(value, str) and "\0" not in value, name, value, "a path")
        return beside(roots.recipe if kind is Path else roots.data, str(value))
    if origin is Literal:
        choices = get_args(kind)
        if value not in choices:
            raise RecipeError(f"{name}: {_shown(value)} is not {' or '.join(choices)}")
        return value
    if origin in (UnionType, Union):  # of a type and None, which TOML cannot say
        (inner,) = set(get_args(kind)) - {NoneType}
        return read_value(inner, name, value, roots)
    if origin is tuple:
        return _tuple(get_args(kind), name, value, roots)
    if origin is Mapping:
        return _mapping(get_args(kind)[1], name, value, roots)
    return value  # a section, which was read before


def _require(good: bool, name: str, value: object, wanted: str) -> None:
    if not good:
        raise RecipeError(f"{name}: {_shown(value)} is not {wanted}")


def _too_large(value: object) -> bool:
    return isinstance(value, int) and abs(value) > MOST


def _shown(value: object) -> str:
    try:
        return quote(value)
    except ValueError:  # Python writes no number of so many digits, which TOML has in hex
        return "a number of thousands of digits"


def _number(name: str, value: object) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or _too_large(value)
        or not math.isfinite(value)
    ):
        raise RecipeError(f"{name}: {_shown(value)} is not a finite number")
    return float(value)


def _tuple(kinds: tuple[Any, ...], name: str, value: object, roots: Roots) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise RecipeError(f"{name}: {_shown(value)} is not a list")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    _require(len(value) == len(kinds), name, value, f"a list of {len(kinds)}")
    return tuple(
        read_value(kind, name, each, roots) for kind, each in zip(kinds, value, strict=True)
    )


def _mapping(kind: Any, name: str, value: object, roots: Roots) -> dict[str, Any]:
    table = as_table(name, value)
    return {key: read_value(kind, f"{name}.{key}", each, roots) for key, each in table.items()}


def as_table(name: str, value: object) -> Mapping[str, Any]:
    """Raises RecipeError for what is no table."""
    if not isinstance(value, Mapping):
        raise RecipeError(f"{name}: {_shown(value)} is not a table")
    return value
