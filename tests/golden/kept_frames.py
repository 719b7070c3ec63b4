"""Which frames of an output the repository keeps: they show any mistake, and are few.

A wrong cache, mask or position moves every later frame. 13 shares no factor with the chunks of 4, 8
and 16 frames, so that every place in a chunk is among those kept.
"""

import torch
from torch import Tensor

STRIDE = 13


def kept_frames(tensor: Tensor, dim: int) -> Tensor:
    """Every 13th frame of ``tensor`` along ``dim``, and the last one."""
    length = tensor.size(dim)
    frames = sorted({*range(0, length, STRIDE), *range(length)[-1:]})
    return tensor.index_select(dim, torch.tensor(frames, dtype=torch.int64))


def frames_like(found: Tensor, expected: Tensor, dim: int = 1) -> Tensor:
    """All frames of ``found`` where ``expected`` was kept whole, else those that were kept."""
    return found if found.size(dim) == expected.size(dim) else kept_frames(found, dim)
