"""Every wave of a batch through its own impulse response."""

from __future__ import annotations

import torch
from torch import Tensor

TRANSFORM_STEP = 8192  # lengths of transforms are multiples: few sizes, all of them fast


def convolve(waves: Tensor, responses: Tensor, delay: int = 0) -> Tensor:
    """Waves `(B, N)` through responses `(B, R)`: the N samples of the result from `delay` on."""
    size = waves.size(1) + responses.size(1) - 1
    size = -(-max(size, delay + waves.size(1)) // TRANSFORM_STEP) * TRANSFORM_STEP
    spectrum = torch.fft.rfft(waves, n=size) * torch.fft.rfft(responses, n=size)
    heard: Tensor = torch.fft.irfft(spectrum, n=size)
    return heard[:, delay : delay + waves.size(1)]
