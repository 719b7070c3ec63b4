"""Everything that the training of a neural language model is told, read from one TOML file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from earshot.models.errors import ConfigError
from earshot.models.neural_lm.network import NeuralLmConfig
from earshot.training.errors import RecipeError
from earshot.training.recipe.data_root import DataPath, Roots
from earshot.training.recipe.ranges import Ranges
from earshot.training.recipe.recipe_file import Precision, check_schedule, read_document, section
from earshot.training.recipe.recipe_value import read_value


@dataclass(frozen=True)
class TextConfig:
    """One text: a sentence a line, words as they are said (`earshot lm clean`), plain or packed.

    share: of all rows that are drawn, against the shares of the other texts.
    """

    path: DataPath
    share: float

    def __post_init__(self) -> None:
        Ranges("texts", self).above_zero("share")


@dataclass(frozen=True)
class LmOptimiserConfig:
    """AdamW on batches of `batch` rows, each of `NeuralLmConfig.context` tokens; see `schedule`."""

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
        check_schedule(self)
        ranges = Ranges("optimiser", self)
        ranges.above_zero("max_gradient_norm")
        ranges.at_least(0, "weight_decay", "seed")
        ranges.at_least(1, "batch", "threads", "log_every", "save_every")


@dataclass(frozen=True)
class LmRecipe:
    """One run. held_out: texts whose perplexity is measured. Raises RecipeError.

    name: what the run is called where it is told of.
    """

    name: str
    work_dir: Path
    texts: tuple[TextConfig, ...]
    held_out: tuple[DataPath, ...] = ()
    network: NeuralLmConfig = field(default_factory=NeuralLmConfig)
    optimiser: LmOptimiserConfig = field(default_factory=LmOptimiserConfig)

    def __post_init__(self) -> None:
        if not self.texts:
            raise RecipeError("texts: needs at least one")

    @property
    def data_files(self) -> list[tuple[str, Path]]:
        """What a run finds in the data, with the keys that name it."""
        texts = [("texts.path", text.path) for text in self.texts]
        return texts + [("held_out", path) for path in self.held_out]


def load_lm_recipe(path: Path, data: Path | None = None) -> LmRecipe:
    """Reads a recipe whose texts lie in `data`, or else beside it; see `data_root`.

    Raises RecipeError, naming what is wrong.
    """
    document, roots = read_document(path), Roots.of(path, data)
    told = read_value(tuple[Any, ...], "texts", document.pop("texts", []), roots)
    texts = [section(TextConfig, "texts", text, roots) for text in told]
    try:
        network = section(NeuralLmConfig, "network", document.pop("network", {}), roots)
    except ConfigError as error:
        raise RecipeError(f"network: {error}") from error
    optimiser = section(LmOptimiserConfig, "optimiser", document.pop("optimiser", {}), roots)
    parts = {"texts": texts, "network": network, "optimiser": optimiser}
    return section(LmRecipe, path.name, {**document, **parts}, roots)
