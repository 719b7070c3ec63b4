"""CTC over phones, in frames that are shorter than the encoder's."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class PhoneHead(nn.Module):
    """Linear layer from an encoder frame to `rate` frames of phones, and log-softmax.

    Phones come at up to twice the rate of tokens: frames long enough for tokens hold two of them.
    """

    def __init__(self, phones: int, rate: int, size: int) -> None:
        super().__init__()
        self.rate = rate
        self.symbols = phones + 1  # the blank is the first
        self.ctc_lo = nn.Linear(size, rate * self.symbols)

    def forward(self, encoded: Tensor) -> Tensor:
        """(…, T, D) encoder frames to (…, T * rate, phones + 1) log-probabilities, float32."""
        logits = self.ctc_lo(encoded).unflatten(-1, (self.rate, self.symbols)).flatten(-3, -2)
        return functional.log_softmax(logits, dim=-1, dtype=torch.float32)
