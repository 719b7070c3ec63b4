"""The left context of many streams in a FastConformer, each at its own place in its audio."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.models.fastconformer.config import FastConformerConfig


@dataclass(frozen=True)
class LayerMemory:
    """Frames that one layer has heard in B lanes, oldest first.

    keys, values (B, h, K, d_k): as projected. gated (B, P, D): let through to the convolution.
    """

    keys: Tensor
    values: Tensor
    gated: Tensor


@dataclass(frozen=True)
class LaneMemory:
    """B lanes before a step: copies of their rows of `FastConformerState`.

    offset (B,): frames put out. layers: what each has heard, K = C and P = k - 1.
    """

    offset: Tensor
    layers: list[LayerMemory]


@dataclass
class FastConformerState:
    """Left context of B streams in N layers, C frames of it. All zeros is a stream's start.

    Keys and values are kept as they were projected once, for as long as they are heard, where an
    exported model projects the whole left context again in each chunk. A ring: frame f is in column
    f modulo C. The last column takes what nobody wants.

    offset (B,) int64: frames put out. att_cache (B, N, h, C + 1, 2 d_k): key and value. cnn_cache
    (B, N, k - 1, D): what the gate let through.
    """

    offset: Tensor
    att_cache: Tensor
    cnn_cache: Tensor

    @classmethod
    def zeros(
        cls, config: FastConformerConfig, slots: int, capacity: int, device: torch.device
    ) -> FastConformerState:
        """The state of so many streams at their start, `capacity` C."""
        head = config.size // config.heads
        rings = (slots, config.layers, config.heads, capacity + 1, 2 * head)
        return cls(
            torch.zeros(slots, dtype=torch.int64, device=device),
            torch.zeros(rings, device=device),
            torch.zeros(slots, config.layers, config.kernel - 1, config.size, device=device),
        )

    @property
    def capacity(self) -> int:
        """C."""
        return self.att_cache.size(3) - 1

    def gather(self, slots: Tensor) -> LaneMemory:
        """A copy of rows `slots` (B,) int64."""
        offset = self.offset[slots]
        column = offset.unsqueeze(1) + torch.arange(self.capacity, device=offset.device)
        ring = self.att_cache[slots.unsqueeze(1), :, :, column % max(self.capacity, 1)]
        keys, values = ring.permute(2, 0, 3, 1, 4).chunk(2, dim=-1)  # (N, B, h, C, d_k)
        gated = self.cnn_cache[slots].transpose(0, 1)
        return LaneMemory(offset, list(map(LayerMemory, keys, values, gated)))

    def advance(self, slots: Tensor, frames: Tensor, columns: Tensor, gated: Tensor) -> None:
        """Moves rows `slots` (B,), which must differ from each other, on by a step.

        frames (B,): how many of the step's T' are real, the others are padding on the right.
        columns (B, N, h, T', 2 d_k). gated (B, N, k - 1, D).
        """
        before = self.offset[slots]
        places = self._columns(before, frames, columns.size(3))
        self.att_cache[slots.unsqueeze(1), :, :, places] = columns.permute(0, 3, 1, 2, 4)
        self.cnn_cache[slots] = gated
        self.offset[slots] = before + frames

    def _columns(self, offset: Tensor, frames: Tensor, size: int) -> Tensor:
        """(B, size): where frames of a step go, padding to the last; C is 0 or holds a step."""
        place = torch.arange(size, device=offset.device)
        column = (offset.unsqueeze(1) + place) % max(self.capacity, 1)
        return torch.where(place < frames.unsqueeze(1), column, self.capacity)

    def row(self, slot: int) -> FastConformerState:
        """A copy of one row, as the state of one stream."""
        row = slice(slot, slot + 1)
        tensors = (self.offset, self.att_cache, self.cnn_cache)
        return FastConformerState(*(tensor[row].cpu().clone() for tensor in tensors))

    def set_row(self, slot: int, row: FastConformerState) -> None:
        """Puts one row where another's has been."""
        self.offset[slot] = row.offset[0]
        self.att_cache[slot], self.cnn_cache[slot] = row.att_cache[0], row.cnn_cache[0]

    def reset(self, slots: Tensor) -> None:
        """Puts rows `slots` (B,) int64 back to the start of a stream.

        What they have heard is erased: a number that is none would spoil even what masks hide it.
        """
        for tensor in (self.offset, self.att_cache, self.cnn_cache):
            tensor.index_fill_(0, slots, 0)
