"""The FastConformer of many streams, chunk by chunk (Noroozi 2024): equal to whole utterances."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.models.errors import NotStreamable
from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.layer import FastConformerLayer
from earshot.models.fastconformer.positions import relative_positions
from earshot.models.fastconformer.state import FastConformerState, LayerMemory
from earshot.models.layers.masks import padding_mask

ENDLESS = 2**40
"""The length of a stream that goes on."""


class StreamingEncoder:
    """An encoder's step over chunks of `right + 1` frames, with `left` frames before them.

    It hears in every context what whole utterances hear. NeMo's own streams differ from that by
    0.025 with `right` 0, where their second chunk hears zero features in place of nothing.
    """

    def __init__(
        self, encoder: FastConformerEncoder, context: AttentionContext, capacity: int | None = None
    ) -> None:
        """capacity: of the state's rings, `left` or more; `left` if None.

        Raises NotStreamable for an encoder that hears what is yet to come, or all that was.
        """
        require_streamable(encoder.config, context)
        self.encoder = encoder
        self.chunk = context.right + 1
        self.left = context.left
        self.capacity = self.left if capacity is None else capacity
        self._layers = [each for each in encoder.layers if isinstance(each, FastConformerLayer)]
        self._device = encoder.pre_encode.out.weight.device
        like = encoder.pre_encode.out.weight
        positions = relative_positions(
            self.chunk, self.capacity + self.chunk, like.new_empty(0, encoder.config.size)
        )
        self._places = [layer.self_attn.project_positions(positions) for layer in self._layers]

    @property
    def window(self) -> int:
        """Feature frames that a step takes: those that its frames hear."""
        return self.encoder.pre_encode.window_size(self.chunk)

    @property
    def window_before(self) -> int:
        """Feature frames of a window that lie before `rate` times the number of its first frame."""
        return self.encoder.pre_encode.window_before

    def start(self, slots: int) -> FastConformerState:
        """The state of so many streams that have heard nothing."""
        return FastConformerState.zeros(self.encoder.config, slots, self.capacity, self._device)

    def step(
        self, state: FastConformerState, slots: Tensor, windows: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Frames (B, T', D) and their counts (B,), see `hear`; moves the state on."""
        heard = self.hear(state, slots, windows, lengths)
        heard.keep()
        return heard.encoded, heard.frames

    def hear(
        self, state: FastConformerState, slots: Tensor, windows: Tensor, lengths: Tensor
    ) -> HeardChunk:
        """Windows (B, W, F) of the streams in `slots` (B,), which stay where they are.

        lengths: (B,) feature frames of each stream, ENDLESS while it goes on; a stream's last chunk
        may hold fewer frames than others. What of a window lies outside of a stream means nothing.
        """
        memory = state.gather(slots)
        stem = self.encoder.pre_encode
        x = self.encoder.scaled(stem.of_windows(windows, memory.offset, lengths))
        frames = (stem.encoded_length(lengths) - memory.offset).clamp(min=0, max=self.chunk)
        seen = self._seen(frames, memory.offset)
        after = []
        for layer, places, before in zip(self._layers, self._places, memory.layers, strict=True):
            x, heard = _advance(layer, x, places, seen, before)
            after.append(heard)
        return HeardChunk(x, frames, state, slots, after)

    def _seen(self, frames: Tensor, offset: Tensor) -> Tensor:
        """(B, T', C + T'): what a chunk of `frames` (B,) real ones hears behind `offset` (B,).

        Padding on the right is heard by nobody else: convolutions are causal, and rings leave it
        out.
        """
        behind = torch.arange(-self.capacity, 0, device=frames.device)
        before = (behind >= -self.left) & (behind + offset.unsqueeze(1) >= 0)
        seen = torch.cat((before, padding_mask(frames, self.chunk)), dim=1).unsqueeze(1)
        return seen.expand(-1, self.chunk, -1)


@dataclass(frozen=True)
class HeardChunk:
    """A chunk of B streams as it was heard.

    encoded (B, T', D), of which frames (B,) are real.
    """

    encoded: Tensor
    frames: Tensor
    _state: FastConformerState
    _slots: Tensor
    _layers: list[LayerMemory]

    def keep(self) -> None:
        """Move the streams' state on."""
        self._state.scatter(self._slots, self.frames, self._layers)


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


def require_streamable(config: FastConformerConfig, context: AttentionContext) -> None:
    """Raises NotStreamable for an encoder without a chunk step in this context."""
    reasons = {
        "its attention is not in chunks": config.context_style != "chunked_limited",
        "its stem hears what is yet to come": not config.causal_stem,
        "its convolutions hear what is yet to come": not config.causal_convolution,
        "its features are normalised over the utterance": config.normalise != "none",
        "its attention hears all that was": context.left < 0,
    }
    reason = next((text for text, holds in reasons.items() if holds), None)
    if reason is not None:
        raise NotStreamable(f"the encoder has no chunk step: {reason}")
