"""Everything that the training of a tagger is told, read from one TOML file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from earshot.language.marks.tagger_network import TaggerConfig
from earshot.training.errors import RecipeError
from earshot.training.recipe.data_root import DataPath
from earshot.training.recipe.ranges import Ranges
from earshot.training.recipe.recipe_file import check_schedule
from earshot.training.text_run.text_recipe import TextConfig, read_text_recipe, text_files


@dataclass(frozen=True)
class SpeechConfig:
    """How texts are made what a recogniser might hand over. All are shares.

    dropped, doubled, swapped: of words. without_pauses: of texts. goes_on: of lines that belong to
    the text before them. cut: of words after which nothing is known yet, as in a partial.
    ends_at_stops, ends_at_commas, ends_elsewhere: of words after which an utterance ends.
    """

    dropped: float = 0.012
    doubled: float = 0.004
    swapped: float = 0.03
    without_pauses: float = 0.3
    goes_on: float = 0.5
    cut: float = 0.02
    ends_at_stops: float = 0.45
    ends_at_commas: float = 0.06
    ends_elsewhere: float = 0.006

    def __post_init__(self) -> None:
        Ranges("speech", self).between(0, 1, *vars(self))


@dataclass(frozen=True)
class TaggerOptimiserConfig:
    """AdamW on batches of `batch` rows of `row` words each; see `schedule`."""

    batch: int = 64
    row: int = 128
    peak_rate: float = 3e-3
    warmup_steps: int = 100
    decay_from_step: int = 300
    total_steps: int = 1500
    weight_decay: float = 0.01
    max_gradient_norm: float = 1.0
    threads: int = 1
    seed: int = 5
    log_every: int = 50
    save_every: int = 250

    def __post_init__(self) -> None:
        check_schedule(self)
        ranges = Ranges("optimiser", self)
        ranges.above_zero("max_gradient_norm")
        ranges.at_least(0, "weight_decay", "seed")
        ranges.at_least(1, "batch", "row", "threads", "log_every", "save_every")


@dataclass(frozen=True)
class TaggerRecipe:
    """One run. held_out: texts that are tagged in the end, and compared. Raises RecipeError."""

    name: str
    work_dir: Path
    texts: tuple[TextConfig, ...]
    held_out: tuple[DataPath, ...] = ()
    network: TaggerConfig = field(default_factory=TaggerConfig)
    speech: SpeechConfig = field(default_factory=SpeechConfig)
    optimiser: TaggerOptimiserConfig = field(default_factory=TaggerOptimiserConfig)

    def __post_init__(self) -> None:
        if not self.texts:
            raise RecipeError("texts: needs at least one")

    @property
    def data_files(self) -> list[tuple[str, Path]]:
        """Files that a run finds in the data, with the keys that name them."""
        return text_files(self.texts, self.held_out)


def load_tagger_recipe(path: Path, data: Path | None = None) -> TaggerRecipe:
    """Reads a recipe whose texts lie in `data`, or else beside it; see `data_root`.

    Raises RecipeError, naming what is wrong.
    """
    sections = {
        "network": TaggerConfig,
        "speech": SpeechConfig,
        "optimiser": TaggerOptimiserConfig,
    }
    return read_text_recipe(TaggerRecipe, sections, path, data)
