"""Parts of a model that learn at rates of their own, and some of them not from the start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from torch import nn

from earshot.training.recipe.optimiser_config import OptimiserConfig, RateGroupName

VOCABULARY = ("decoder.token_embedding.", "decoder.positional_embedding")
"""Of Whisper's decoder: it would learn, above all, that nobody writes most of its tokens."""

NEW_IN_ENCODER = "encoder.narrow."  # between a taken-over encoder and the heads: as new as these


@dataclass(frozen=True)
class RateGroup:
    """Weights that share a learning rate: `share` of the schedule's, from `first_step` on."""

    name: str
    parameters: Sequence[nn.Parameter]
    share: float
    first_step: int = 0

    def share_at(self, step: int, warmup_steps: int) -> float:
        """Its share in update `step`: what has rested warms up when its time comes."""
        if self.first_step == 0:
            return self.share
        return self.share * min(1.0, max(0, step - self.first_step + 1) / warmup_steps)

    def learns(self, step: int) -> bool:
        """Whether update `step` changes it."""
        return self.share > 0.0 and step >= self.first_step


def rate_groups(
    parameters: Iterable[tuple[str, nn.Parameter]], config: OptimiserConfig
) -> list[RateGroup]:
    """Named weights by their rates; one group of all where the recipe has one rate for all."""
    named = list(parameters)  # a side head's names may be the model's
    if not config.group_rates and not config.frozen_groups:
        return [RateGroup("all", [weight for _, weight in named], 1.0)]
    found: dict[RateGroupName, list[nn.Parameter]] = {each: [] for each in get_args(RateGroupName)}
    for name, parameter in named:
        found[group_of(name)].append(parameter)
    return [
        RateGroup(
            name,
            weights,
            share=config.rate_of(name) / config.peak_rate,
            first_step=config.frozen_steps if config.rests_first(name) else 0,
        )
        for name, weights in found.items()
        if weights
    ]


def group_of(name: str) -> RateGroupName:
    """The group of a weight, by its name in the model."""
    if name.startswith("encoder.") and not name.startswith(NEW_IN_ENCODER):
        return "encoder"
    if name.startswith(VOCABULARY):
        return "vocabulary"
    return "decoder" if name.split(".")[0].endswith("decoder") else "heads"


def set_learning(groups: Iterable[RateGroup], step: int) -> None:
    """Lets gradients reach only what update `step` changes: what rests costs no backward pass."""
    for group in groups:
        learns = group.learns(step)
        for parameter in group.parameters:
            parameter.requires_grad_(learns)
