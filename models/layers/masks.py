"""Boolean attention masks for whole utterances; True = may be seen."""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(lengths: Tensor, size: int) -> Tensor:
    """(B, size), True at the first `lengths` (B,) places of each row."""
    return torch.arange(size, device=lengths.device) < lengths.unsqueeze(1)


def chunk_mask(
    size: int, chunk_size: int, num_left_chunks: int, device: torch.device | None = None
) -> Tensor:
    """(size, size): a frame sees its own chunk and `num_left_chunks` before it (-1 = all).

    Yao 2021, section 2.1.1 (dynamic chunk training).
    """
    chunk = torch.arange(size, device=device) // chunk_size
    behind = chunk.unsqueeze(1) - chunk.unsqueeze(0)  # rows are queries
    mask = behind >= 0
    return mask & (behind <= num_left_chunks) if num_left_chunks >= 0 else mask
