"""The section of a recipe on checkpoints: how often, how many, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from earshot.training.recipe.ranges import Ranges

Kept: TypeAlias = Literal["best", "last"]
Stored: TypeAlias = Literal["float32", "float16", "int8"]


@dataclass(frozen=True)
class CheckpointConfig:
    """How often to log, save and measure, and how many checkpoints to average: `keep`.

    The best by word error rate in tokens; or, of a model that is to hear phones, the last. stored:
    how the exported model's weights lie on a disk; int8 is a scale a row, a quarter of float32.
    """

    log_every: int = 20
    save_every: int = 250  # updates, with a look at the development set
    save_minutes: float = 5.0  # the state alone, in between
    dev_utterances: int = 300
    average: int = 8
    start_share: float = 0.0  # of the weights that the run started from, in the average
    keep: Kept = "best"
    stored: Stored = "float16"

    def __post_init__(self) -> None:
        Ranges("checkpoints", self).at_least(
            1, "log_every", "save_every", "dev_utterances", "average"
        )
        Ranges("checkpoints", self).above_zero("save_minutes")
        Ranges("checkpoints", self).between(0, 0.99, "start_share")
