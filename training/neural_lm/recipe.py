"""Everything that the training of a neural language model is told, read from one TOML file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from earshot.models.neural_lm.network import NeuralLmConfig
from earshot.training.errors import RecipeError
from earshot.training.recipe.data_root import DataPath
from earshot.training.recipe.ranges import Ranges
from earshot.training.recipe.recipe_file import Precision, check_schedule
from earshot.training.text_run.text_recipe import TextConfig, read_text_recipe, text_files


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
        """Files that a run finds in the data, with the keys that name them."""
        return text_files(self.texts, self.held_out)


def load_lm_recipe(path: Path, data: Path | None = None) -> LmRecipe:
    """Reads a recipe whose texts lie in `data`, or else beside it; see `data_root`.

    Raises RecipeError, naming what is wrong.
    """
    sections = {"network": NeuralLmConfig, "optimiser": LmOptimiserConfig}
    return read_text_recipe(LmRecipe, sections, path, data)
