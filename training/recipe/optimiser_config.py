"""How weights are changed: rates, schedule, sizes of batches and chunks, shares of losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from earshot.training.errors import RecipeError
from earshot.training.recipe.ranges import Ranges
from earshot.training.recipe.recipe_file import Precision, check_schedule

RateGroupName: TypeAlias = Literal["encoder", "heads", "decoder", "vocabulary"]


@dataclass(frozen=True)
class OptimiserConfig:
    """AdamW with a schedule of warm-up, plateau and decay to zero, counted in updates.

    With precision "bfloat16" matrix products, convolutions and attention run in it; weights,
    softmax, norms and losses stay in float32 (torch's autocast). Threads: at most, on one CPU.
    Encoder, heads and decoder may have peak rates of their own, 0 for never, and rest at first; so
    may the vocabulary, the embeddings of Whisper's decoder, which has the decoder's unless named.
    """

    peak_rate: float = 1.5e-3
    warmup_steps: int = 800
    decay_from_step: int = 8000
    total_steps: int = 12000
    weight_decay: float = 0.01
    max_gradient_norm: float = 5.0
    batch_seconds: float = 20.0
    first_batch_seconds: float = 8.0
    ctc_weight: float = 0.3
    ctc_only_steps: int = 1500
    reverse_weight: float = 0.3  # of the right-to-left decoder in the attention loss
    label_smoothing: float = 0.1
    full_context_probability: float = 0.4
    min_chunk_frames: int = 1
    max_chunk_frames: int = 25
    min_left_frames: int = 0  # where left context is limited: what every frame sees at least
    group_rates: Mapping[str, float] = field(default_factory=dict)
    frozen_groups: tuple[RateGroupName, ...] = ()
    frozen_steps: int = 0
    precision: Precision = "float32"
    seed: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        check_schedule(self)
        ranges = Ranges("optimiser", self)
        ranges.above_zero("max_gradient_norm", "batch_seconds", "first_batch_seconds")
        ranges.at_least(
            0, "weight_decay", "ctc_only_steps", "seed", "min_left_frames", "frozen_steps"
        )
        ranges.at_least(1, "min_chunk_frames", "max_chunk_frames", "threads")
        ranges.between(0, 1, "ctc_weight", "reverse_weight", "full_context_probability")
        ranges.between(0, 0.99, "label_smoothing")
        if self.min_chunk_frames > self.max_chunk_frames:
            raise RecipeError("optimiser.min_chunk_frames: above max_chunk_frames")
        self._check_groups()

    def rate_of(self, group: RateGroupName) -> float:
        """The group's own peak rate, or that of all."""
        default = self.rate_of("decoder") if group == "vocabulary" else self.peak_rate
        return self.group_rates.get(group, default)

    def rests_first(self, group: RateGroupName) -> bool:
        """Whether the group learns from `frozen_steps` on."""
        named = ("decoder", group) if group == "vocabulary" else (group,)
        return any(name in self.frozen_groups for name in named)

    def _check_groups(self) -> None:
        groups = get_args(RateGroupName)
        if unknown := sorted(set(self.group_rates) - set(groups)):
            raise RecipeError(
                f"optimiser.group_rates: no group {', '.join(unknown)}; there are "
                f"{', '.join(groups)}"
            )
        if not all(rate >= 0 for rate in self.group_rates.values()):
            raise RecipeError("optimiser.group_rates: rates are at least 0")
