"""Sinusoidal positions, computed for any index: WeNet's, and Whisper's.

WeNet looks positions up in a table of 5,000 rows and stops there (200 s at 40 ms frames). The
table's formula has no such limit. It is evaluated in float32 in WeNet's order of operations, so
that the rounding of large angles, which a trained model has seen, is the table's.
"""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor

TABLE_ROWS = 3_000
"""A minute of Whisper's positions, which CPUs keep."""


def positional_encoding(positions: Tensor, size: int) -> Tensor:
    """Interleaved sine and cosine of `positions` (...,) at `size` / 2 wavelengths: (..., size).

    Vaswani 2017, section 3.5.
    """
    exponents = torch.arange(0, size, 2, dtype=torch.float32, device=positions.device)
    rates = torch.exp(exponents * -(math.log(10000.0) / size))
    angles = positions.to(torch.float32).unsqueeze(-1) * rates
    return torch.stack((torch.sin(angles), torch.cos(angles)), dim=-1).flatten(-2)


def whisper_positions(positions: Tensor, size: int) -> Tensor:
    """Sines of `positions` (...,) at `size` / 2 wavelengths, then their cosines: (..., size).

    Radford 2022, section 2.2; the longest wavelength is 2 pi 10000, size 4 or more.
    Published checkpoints hold the table as float16, and so exactly these values: others move what
    the blocks put out by up to a fifth.
    """
    if positions.device.type == "cpu" and positions.numel() and int(positions.max()) < TABLE_ROWS:
        return _whisper_table(size)[positions]
    return _whisper_rows(positions, size)


@cache
def _whisper_table(size: int) -> Tensor:
    # For streams and for training alike, whichever comes first.
    with torch.inference_mode(False):
        return _whisper_rows(torch.arange(TABLE_ROWS), size)


def _whisper_rows(positions: Tensor, size: int) -> Tensor:
    steps = torch.arange(size // 2, dtype=torch.float64, device=positions.device)
    rates = torch.exp(steps * -(math.log(10000.0) / (size // 2 - 1)))
    angles = positions.to(torch.float64).unsqueeze(-1) * rates
    table = torch.cat((torch.sin(angles), torch.cos(angles)), dim=-1)
    return table.to(torch.float16).to(torch.float32)
