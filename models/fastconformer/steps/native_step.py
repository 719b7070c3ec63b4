"""The chunk step on a CPU: lanes as rows, what they remember read where it is."""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.chunk_step import ChunkStep, HeardChunk
from earshot.models.fastconformer.steps.native_encoder import NativeEncoder
from earshot.models.fastconformer.steps.state import FastConformerState


class NativeChunkStep(ChunkStep):
    """See `ChunkStep`; a lane has the same bits in any company."""

    def __init__(
        self,
        encoder: FastConformerEncoder,
        context: AttentionContext,
        capacity: int | None,
        native: NativeEncoder,
    ) -> None:
        """native: of the same encoder, may be other contexts' as well; see `ChunkStep`."""
        super().__init__(encoder, context, capacity)
        self.device = torch.device("cpu")  # the stem may have given its memory up
        self._native = native

    def hear(
        self, state: FastConformerState, slots: Tensor, windows: Tensor, lengths: Tensor
    ) -> HeardChunk:
        """See `ChunkStep`; T' is the most frames that a lane has."""
        offset = state.offset[slots]
        frames = self._frames(offset, lengths)
        stem = self._native.stem(windows, offset, lengths, frames)
        encoded, columns, gated = self._native.hear(stem, frames, state, slots, self.left)
        return HeardChunk(encoded, frames, columns, gated, state, slots)
