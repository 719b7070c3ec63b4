"""Where the data of a recipe lies: in a folder that the command names, not the recipe."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from earshot.training.errors import CorpusError

DATA_VARIABLE = "EARSHOT_DATA"
DataPath: TypeAlias = Annotated[Path, "relative to the root of the data"]


@dataclass(frozen=True)
class Roots:
    """Roots of relative paths: `data` of paths to the data, `recipe` of all others."""

    recipe: Path
    data: Path

    @classmethod
    def of(cls, recipe: Path, data: Path | None) -> Roots:
        """The roots of a recipe's file; without `data` the data lies beside the recipe."""
        folder = recipe.resolve().parent
        # Not resolved: links in the data are part of the names by which caches know recordings.
        return cls(folder, folder if data is None else Path.cwd() / data)


def data_root(said: Path | None) -> Path | None:
    """What the command line has `said`, or else the environment; None where neither says it."""
    known = os.environ.get(DATA_VARIABLE)
    return said if said is not None or not known else Path(known)


def require_data(files: Iterable[tuple[str, Path]], *keys: str) -> None:
    """Raises CorpusError for the first of a recipe's data files, or of those of `keys`, not there.

    files: each with the recipe's key for it.
    """
    for key, path in files:
        if (not keys or key in keys) and not path.exists():
            raise CorpusError(
                f"{key}: there is no {path}: --data DIR, or {DATA_VARIABLE}, says where the data is"
            )
