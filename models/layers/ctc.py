"""CTC: an output layer, and what a path says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import torch
from torch import Tensor, nn
from torch.nn import functional


class CtcHead(nn.Module):
    """Linear layer to the vocabulary and log-softmax."""

    def __init__(self, vocab_size: int, size: int, blank_id: int) -> None:
        super().__init__()
        self.blank_id = blank_id
        self.ctc_lo = nn.Linear(size, vocab_size)

    def forward(self, encoded: Tensor) -> Tensor:
        """(…, D) to log-probabilities (…, V), float32."""
        return functional.log_softmax(self.ctc_lo(encoded), dim=-1, dtype=torch.float32)


def collapse(frame_tokens: Sequence[int], blank_id: int) -> list[int]:
    """CTC's rule: merge repeats, then drop blanks."""
    return [token for token, _ in groupby(frame_tokens) if token != blank_id]
