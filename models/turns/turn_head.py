"""A head that hears in an encoder's frames whether a speaker has finished.

    sound = sum over stretches s of weights[s] . (mean of the frames in s - means[s])

Stretches are counted from the first silent frame: how a last word falls and slows is in those
before it, and how the encoder hears what follows in those behind.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.turns.turn_rule import TurnRule

STRETCHES = ((-20, -12), (-12, -6), (-6, -3), (-3, 0), (0, 2), (2, 5))
"""Frames from the first silent one on."""
FRAMES_BEFORE = -STRETCHES[0][0]
FRAMES_AFTER = STRETCHES[-1][1]
LOUDEST = 50.0
"""The most that a sound says either way, whatever is in a head's file."""


@dataclass(frozen=True, eq=False)
class TurnHead:
    """weights, means: `(S, D)`, of stretches. rule: goes with it."""

    weights: Tensor
    means: Tensor
    rule: TurnRule

    @property
    def width(self) -> int:
        """Size of the frames that it hears."""
        return self.weights.shape[1]

    def sounds(self, stretches: Tensor) -> list[float]:
        """The terms that stretches `(B, S, D)` add to the log odds, finite; see `stretches_of`."""
        away = torch.nan_to_num(stretches - self.means, nan=0.0)
        # No matrix product: its sums depend on how many streams are asked about at once.
        sounds = (away * self.weights).sum(dim=(1, 2))
        return sounds.nan_to_num(nan=0.0).clamp(-LOUDEST, LOUDEST).tolist()

    def to(self, device: torch.device) -> TurnHead:
        """The same on another device."""
        return TurnHead(self.weights.to(device), self.means.to(device), self.rule)


def stretches_of(frames: Tensor, silent: int) -> Tensor:
    """The means `(S, D)` of the stretches of a segment's frames `(T, D)`.

    silent: frames at its end that are. A stretch of which there is only a part is the mean of that,
    and not a number where there is none.
    """
    start = len(frames) - silent
    around = frames[max(start - FRAMES_BEFORE, 0) : start + FRAMES_AFTER].float()
    before, after = max(FRAMES_BEFORE - start, 0), max(FRAMES_AFTER - silent, 0)
    around = functional.pad(around, (0, 0, before, after), value=torch.nan)
    cut = [around[FRAMES_BEFORE + low : FRAMES_BEFORE + high] for low, high in STRETCHES]
    return torch.stack([each.nanmean(dim=0) for each in cut])
