"""Everything that the training of a neural language model is told, read from one TOML file."""

from __future__ import annotations

import dataclasses
import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from models.errors import ConfigError
from models.neural_lm.network import NeuralLmConfig
from models.training.config import Precision
from models.training.errors import RecipeError


@dataclass(frozen=True)
class TextConfig:
    """One text: a sentence a line, words as they are said (`earshot lm clean`), plain or packed.

    share: of all rows that are drawn, against the shares of the other texts.
    """

    path: Path
    share: float


@dataclass(frozen=True)
class LmOptimiserConfig:
    """AdamW on batches of `batch` rows, each of `NeuralLmConfig.context` pieces; see `schedule`."""

    batch: int = 32
    peak_rate: float = 1.5e-3
    warmup_steps: int = 300
    decay_from_step: int = 6000
    total_steps: int = 9000
    weight_decay: float = 0.05
    max_gradient_norm: float = 1.0
    precision: Precision = "bfloat16"
    threads: int = 2
    seed: int = 7
    log_every: int = 50
    save_every: int = 500

    def __post_init__(self) -> None:
        if not 0 < self.warmup_steps <= self.decay_from_step < self.total_steps:
            raise RecipeError("optimiser: needs 0 < warmup_steps <= decay_from_step < total_steps")
        if self.precision not in get_args(Precision):
            raise RecipeError(f"optimiser.precision: {self.precision!r} is not float32 or bfloat16")


@dataclass(frozen=True)
class LmRecipe:
    """One run. held_out: texts whose perplexity is measured. Raises RecipeError."""

    name: str
    work_dir: Path
    texts: tuple[TextConfig, ...]
    held_out: tuple[Path, ...] = ()
    network: NeuralLmConfig = field(default_factory=NeuralLmConfig)
    optimiser: LmOptimiserConfig = field(default_factory=LmOptimiserConfig)

    def __post_init__(self) -> None:
        shares = [text.share for text in self.texts]
        if not shares or not all(0 < share < math.inf for share in shares):
            raise RecipeError("texts: needs at least one, each with a share above 0")


def load_lm_recipe(path: Path) -> LmRecipe:
    """Reads a recipe; relative paths in it are relative to the file.

    Raises RecipeError, naming what is wrong.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecipeError(f"cannot read {path}: {error}") from error
    root = path.resolve().parent
    try:
        return _recipe(document, root)
    except (TypeError, KeyError, ConfigError) as error:
        raise RecipeError(f"{path}: {error}") from error


def _recipe(document: Mapping[str, Any], root: Path) -> LmRecipe:
    known = {each.name for each in dataclasses.fields(LmRecipe)}
    if unknown := document.keys() - known:
        raise RecipeError(f"unknown keys {', '.join(sorted(unknown))}")
    return LmRecipe(
        name=document["name"],
        work_dir=_path(root, document["work_dir"]),
        texts=tuple(
            TextConfig(_path(root, text["path"]), text["share"]) for text in document["texts"]
        ),
        held_out=tuple(_path(root, each) for each in document.get("held_out", ())),
        network=NeuralLmConfig(**document.get("network", {})),
        optimiser=LmOptimiserConfig(**document.get("optimiser", {})),
    )


def _path(root: Path, value: str) -> Path:
    return Path(os.path.normpath(root / value))
