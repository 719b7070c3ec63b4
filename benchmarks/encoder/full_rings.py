"""A chunk of streams that have heard all that they remember."""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models.fastconformer.steps.chunk_step import ENDLESS, ChunkStep


class FullRings:
    """Lanes of random sound behind random memories, for one step."""

    def __init__(self, step: ChunkStep, lanes: int) -> None:
        torch.manual_seed(1)
        self._step = step
        self._state, self._slots = step.start(lanes), torch.arange(lanes)
        self._state.offset += step.capacity
        self._state.att_cache.normal_()
        self._windows = torch.randn(lanes, step.window, step.config.features_size)
        self._lengths = torch.full((lanes,), ENDLESS)

    def hear(self) -> Tensor:
        """Frames (B, T', D) of the chunk; nothing moves on."""
        heard = self._step.hear(self._state, self._slots, self._windows, self._lengths)
        return heard.encoded

    def move_on(self) -> None:
        """Hear the chunk, and remember it."""
        self._step.step(self._state, self._slots, self._windows, self._lengths)
