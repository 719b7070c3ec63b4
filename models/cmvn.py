"""Global mean and variance normalisation of features."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class GlobalCmvn(nn.Module):
    """(x - mean) * istd, per mel bin. Starts as the identity."""

    mean: Tensor
    istd: Tensor

    def __init__(self, num_mel_bins: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(num_mel_bins))
        self.register_buffer("istd", torch.ones(num_mel_bins))

    def forward(self, features: Tensor) -> Tensor:
        return (features - self.mean) * self.istd
