"""Speech played faster or slower: tempo, pitch and formants move together (Ko 2015)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional

ZERO_CROSSINGS = 12  # of the windowed sinc, each side
PASSED = 0.95  # of the band that both rates have
FINEST = 100  # speeds are hundredths


@lru_cache
def resampling_filters(speed: Fraction) -> tuple[Tensor, int]:
    """Filters `(W, q)` for output samples m = 0 .. q - 1 modulo q of speed p / q, and their reach.

    Output m is the sound at input time m p / q. A window of W inputs begins `reach` before the
    one that output m = 0 falls on, and moves on by p inputs for every q outputs.
    """
    step, phases = speed.numerator, speed.denominator
    cutoff = min(1.0, phases / step) * PASSED
    reach = math.ceil(ZERO_CROSSINGS / cutoff)
    inputs = torch.arange(-reach, reach + step, dtype=torch.float64).unsqueeze(1)
    distance = inputs - torch.arange(phases, dtype=torch.float64) * (step / phases)
    window = (distance / reach).clamp(-1.0, 1.0).mul(math.pi / 2).cos().square()
    filters = cutoff * torch.sinc(cutoff * distance) * window
    return (filters / filters.sum(dim=0)).float(), reach


def sped_length(length: int, speed: float) -> int:
    """Samples that `length` samples become."""
    exact = Fraction(speed).limit_denominator(FINEST)
    return -(-length * exact.denominator // exact.numerator)


def change_speed(waves: Tensor, speed: float) -> Tensor:
    """`(..., N)` played `speed` times as fast: `(..., sped_length(N))`.

    The speed counts in hundredths. Band-limited interpolation by a windowed sinc (Smith 1984).
    """
    exact = Fraction(speed).limit_denominator(FINEST)
    if exact == 1:
        return waves
    filters, reach = resampling_filters(exact)
    length = sped_length(waves.size(-1), speed)
    moves = -(-length // exact.denominator)
    needed = (moves - 1) * exact.numerator + filters.size(0)
    padded = functional.pad(waves, (reach, max(0, needed - reach - waves.size(-1))))
    windows = padded.unfold(-1, filters.size(0), exact.numerator)[..., :moves, :]
    return (windows @ filters.to(waves.device)).flatten(-2)[..., :length]
