"""Signals that no two frames of which are alike."""

from __future__ import annotations

import torch
from torch import Tensor

RATE_HZ = 16_000
SECONDS = (9.0, 5.3)
SEED = 20261127


def make_signals() -> list[Tensor]:
    """Noise and two gliding tones, whose loudness changes ten times a second."""
    generator = torch.Generator().manual_seed(SEED)
    return [_signal(int(RATE_HZ * seconds), generator) for seconds in SECONDS]


def _signal(size: int, generator: torch.Generator) -> Tensor:
    found = torch.zeros(size)
    for low, high in ((100, 900), (900, 3500)):
        pitch = low + (high - low) * _wandering(size, generator)
        tone = torch.sin(2 * torch.pi * pitch.cumsum(0) / RATE_HZ)
        found += 0.2 * tone * _wandering(size, generator).pow(2)
    noise = torch.randn(size, generator=generator)
    return found + 0.05 * noise * _wandering(size, generator).pow(4)


def _wandering(size: int, generator: torch.Generator) -> Tensor:
    """Values (N,) in [0, 1] that are drawn ten times a second."""
    drawn = torch.rand(1, 1, 10 * size // RATE_HZ + 2, generator=generator)
    return torch.nn.functional.interpolate(drawn, size=size, mode="linear")[0, 0]
