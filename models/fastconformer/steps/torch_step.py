"""The chunk step in torch: on any device, and what a native one is held to."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.layer import FastConformerLayer
from earshot.models.fastconformer.positions import relative_positions
from earshot.models.fastconformer.steps.chunk_step import ChunkStep, HeardChunk
from earshot.models.fastconformer.steps.state import FastConformerState, LayerMemory
from earshot.models.layers.masks import padding_mask


class TorchChunkStep(ChunkStep):
    """See `ChunkStep`; a lane's numbers depend on its company by rounding."""

    def __init__(
        self, encoder: FastConformerEncoder, context: AttentionContext, capacity: int | None = None
    ) -> None:
        """See `ChunkStep`."""
        super().__init__(encoder, context, capacity)
        self._encoder = encoder
        self._layers = [each for each in encoder.layers if isinstance(each, FastConformerLayer)]
        like = encoder.pre_encode.out.weight
        positions = relative_positions(
            self.chunk, self.capacity + self.chunk, like.new_empty(0, encoder.config.size)
        )
        self._places = [layer.self_attn.project_positions(positions) for layer in self._layers]

    def hear(
        self, state: FastConformerState, slots: Tensor, windows: Tensor, lengths: Tensor
    ) -> HeardChunk:
        """See `ChunkStep`."""
        memory = state.gather(slots)
        x = self._encoder.scaled(self.stem.of_windows(windows, memory.offset, lengths))
        frames = self._frames(memory.offset, lengths)
        seen = self._seen(frames, memory.offset)
        after = []
        for layer, places, before in zip(self._layers, self._places, memory.layers, strict=True):
            x, heard = _advance(layer, x, places, seen, before)
            after.append(heard)
        return HeardChunk(x, frames, *_last(after, frames, self.chunk), state, slots)

    def _seen(self, frames: Tensor, offset: Tensor) -> Tensor:
        """(B, T', C + T'): what a chunk of `frames` (B,) real ones hears behind `offset` (B,).

        Padding on the right is heard by nobody else: convolutions are causal, and rings leave it
        out.
        """
        behind = torch.arange(-self.capacity, 0, device=frames.device)
        before = (behind >= -self.left) & (behind + offset.unsqueeze(1) >= 0)
        seen = torch.cat((before, padding_mask(frames, self.chunk)), dim=1).unsqueeze(1)
        return seen.expand(-1, self.chunk, -1)


def _advance(
    layer: FastConformerLayer, x: Tensor, places: Tensor, seen: Tensor, before: LayerMemory
) -> tuple[Tensor, LayerMemory]:
    """One layer over x (B, T', D): (B, T', D), and the memory of it and the frames before."""
    x = x + 0.5 * layer.feed_forward1(layer.norm_feed_forward1(x))
    heard = layer.norm_self_att(x)
    keys, values = layer.self_attn.project_memory(heard)
    keys = torch.cat((before.keys, keys), dim=2)
    values = torch.cat((before.values, values), dim=2)
    x = x + layer.self_attn.attend(heard, keys, values, places, seen)
    gated = torch.cat((before.gated, layer.conv.gate(layer.norm_conv(x))), dim=1)
    x = x + layer.conv.convolve(gated)
    x = x + 0.5 * layer.feed_forward2(layer.norm_feed_forward2(x))
    return layer.norm_out(x), LayerMemory(keys, values, gated)


def _last(layers: Sequence[LayerMemory], frames: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Columns and gated frames, as of `HeardChunk`, of what layers have heard.

    frames (B,): how many of the step's `size` are real, the others are padding on the right.
    """
    columns = [torch.cat((layer.keys, layer.values), -1)[:, :, -size:] for layer in layers]
    remembered = layers[0].gated.size(1) - size
    place = frames.unsqueeze(1) + torch.arange(remembered, device=frames.device)
    gated = [
        layer.gated.gather(1, place.unsqueeze(2).expand(-1, -1, layer.gated.size(2)))
        for layer in layers
    ]
    return torch.stack(columns, dim=1), torch.stack(gated, dim=1)
