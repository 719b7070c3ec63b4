"""Sinusoidal positions, computed for any index.

WeNet looks positions up in a table of 5,000 rows and stops there (200 s at 40 ms frames). The
table's formula has no such limit. It is evaluated in float32 in WeNet's order of operations, so
that the rounding of large angles, which a trained model has seen, is the table's.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def positional_encoding(positions: Tensor, size: int) -> Tensor:
    """Interleaved sine and cosine of `positions` (...,) at `size` / 2 wavelengths: (..., size).

    Vaswani 2017, section 3.5.
    """
    exponents = torch.arange(0, size, 2, dtype=torch.float32, device=positions.device)
    rates = torch.exp(exponents * -(math.log(10000.0) / size))
    angles = positions.to(torch.float32).unsqueeze(-1) * rates
    return torch.stack((torch.sin(angles), torch.cos(angles)), dim=-1).flatten(-2)
