"""Memories of segments that silence fills up to the window a decoder was taught with."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


def filled(memory: Tensor, lengths: Tensor, silence: Tensor) -> tuple[Tensor, Tensor]:
    """Memory (S, T, D) of lengths (S,), and after it what else there is of silence (W, D)."""
    rows = zip(memory, lengths.tolist(), strict=True)
    found = [torch.cat((row[:length], silence[length:])) for row, length in rows]
    return pad_sequence(found, batch_first=True), lengths.clamp(min=len(silence))
