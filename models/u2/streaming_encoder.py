"""What every encoder is to those who train and serve it: frames out of features, in chunks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from earshot.models.layers.cmvn import GlobalCmvn
from earshot.models.layers.encoder_layer import EncoderLayer
from earshot.models.layers.subsampling import StemShape
from earshot.models.u2.lanes import EncoderState, LaneContext, LaneUpdate


class StreamingEncoder(nn.Module):
    """Features (B, T, F) in, encoder frames (B, T', D) out, T' about T / subsampling_rate.

    A chunk of n output frames needs (n - 1) * subsampling_rate + right_context + 1 feature
    frames; the next chunk's features start n * subsampling_rate later.
    """

    global_cmvn: GlobalCmvn
    stem_shape: StemShape
    output_size: int

    @property
    def subsampling_rate(self) -> int:
        """Feature frames per encoder frame."""
        return self.stem_shape.rate

    @property
    def right_context(self) -> int:
        """Feature frames after an output's first that it needs whatever the chunk."""
        return self.stem_shape.right_context

    @property
    def layers(self) -> list[EncoderLayer]:
        """The attention blocks, first to last, of an encoder that has some."""
        return []

    def output_lengths(self, lengths: Tensor) -> Tensor:
        """Encoder frames for `lengths` (B,) feature frames."""
        return self.stem_shape.output_lengths(lengths)

    def constrain(self) -> None:
        """Put weights back where a kind of encoder wants them, now and then while training."""

    def initial_state(
        self, lanes: int, cache_frames: int, device: torch.device | str = "cpu"
    ) -> EncoderState:
        """State of `lanes` streams that have not begun, keeping `cache_frames` of left context."""
        raise NotImplementedError

    def forward_lanes(
        self, feats: Tensor, out_lengths: Tensor, context: LaneContext
    ) -> tuple[Tensor, LaneUpdate]:
        """One chunk of B streams, each at its own offset, with room for T' frames.

        feats (B, W, F): a short lane (a stream's last chunk) is padded on the right with finite
        values. out_lengths (B,) int64: each lane's real output frames, from 0 (the lane stands
        still) to T'. Returns (B, T', D), meaningful up to out_lengths, and what it changes in their
        state, which is left as it was. The context is used up.
        """
        raise NotImplementedError
