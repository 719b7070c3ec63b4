"""The FastConformer of many streams, chunk by chunk (Noroozi 2024): equal to whole utterances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor

from earshot.models.errors import NotStreamable
from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.state import FastConformerState

ENDLESS = 2**40
"""The length of a stream that goes on."""


@dataclass(frozen=True)
class HeardChunk:
    """A chunk of B streams as it was heard, and what it adds to what they remember.

    encoded (B, T', D), of which frames (B,) are real. columns (B, N, h, T', 2 d_k): their keys and
    values. gated (B, N, k - 1, D): what the gates let through last.
    """

    encoded: Tensor
    frames: Tensor
    columns: Tensor
    gated: Tensor
    state: FastConformerState
    slots: Tensor

    def keep(self) -> None:
        """Move the streams' state on."""
        self.state.advance(self.slots, self.frames, self.columns, self.gated)


class ChunkStep(ABC):
    """An encoder's step over chunks of `right + 1` frames, with `left` frames before them.

    It hears in every context what whole utterances hear. NeMo's own streams differ from that by
    0.025 with `right` 0, where their second chunk hears zero features in place of nothing.
    """

    def __init__(
        self, encoder: FastConformerEncoder, context: AttentionContext, capacity: int | None = None
    ) -> None:
        """capacity: of the state's rings, `left` or more; `left` if None.

        Raises NotStreamable for an encoder that hears what is yet to come, or all that was;
        ValueError for rings that hold less than is heard.
        """
        require_streamable(encoder.config, context)
        # Not the encoder: native layers are copies, and would be in memory twice.
        self.config, self.stem = encoder.config, encoder.pre_encode
        self.chunk = context.right + 1
        self.left = context.left
        self.capacity = self.left if capacity is None else capacity
        if self.capacity < self.left:
            raise ValueError(f"rings of {self.capacity} frames do not hold {self.left}")
        self.device = self.stem.out.weight.device

    @abstractmethod
    def hear(
        self, state: FastConformerState, slots: Tensor, windows: Tensor, lengths: Tensor
    ) -> HeardChunk:
        """Windows (B, W, F) of the streams in `slots` (B,), which stay where they are.

        lengths: (B,) feature frames of each stream, ENDLESS while it goes on; a stream's last chunk
        may hold fewer frames than others. What of a window lies outside of a stream means nothing.
        """

    @property
    def window(self) -> int:
        """Feature frames that a step takes: those that its frames hear."""
        return self.stem.window_size(self.chunk)

    @property
    def window_before(self) -> int:
        """Feature frames of a window that lie before `rate` times the number of its first frame."""
        return self.stem.window_before

    def start(self, slots: int) -> FastConformerState:
        """The state of so many streams that have heard nothing."""
        return FastConformerState.zeros(self.config, slots, self.capacity, self.device)

    def step(
        self, state: FastConformerState, slots: Tensor, windows: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Frames (B, T', D) and their counts (B,), see `hear`; moves the state on."""
        heard = self.hear(state, slots, windows, lengths)
        heard.keep()
        return heard.encoded, heard.frames

    def _frames(self, offset: Tensor, lengths: Tensor) -> Tensor:
        """How many frames of a chunk behind `offset` (B,) are real, of streams of `lengths`."""
        ahead = self.stem.encoded_length(lengths) - offset
        return ahead.clamp(min=0, max=self.chunk)


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
