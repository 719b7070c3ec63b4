"""Stages of an encoder: blocks between which the frame rate falls."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from earshot.models.config import EncoderConfig


@dataclass(frozen=True)
class Stage:
    """Blocks that run at one frame rate.

    layers: numbers of the blocks, maybe none. rate: frames they see for each that the encoder puts
    out. first_row: of the cache, where every block has `rate` rows (`EncoderState`). pools: what
    comes in has twice as many frames.
    """

    layers: range
    rate: int
    first_row: int
    pools: bool

    def rows(self, layer: int) -> slice:
        """The cache's rows of a block, by its number in the encoder."""
        first = self.first_row + (layer - self.layers.start) * self.rate
        return slice(first, first + self.rate)

    @property
    def end_row(self) -> int:
        """The first of the cache's rows behind all blocks."""
        return self.first_row + len(self.layers) * self.rate

    def enter(self, x: Tensor) -> Tensor:
        """Frames of the stage before (B, T, D), T even where it pools, at this stage's rate."""
        return x.view(x.size(0), -1, 2, x.size(2)).mean(dim=2) if self.pools else x


def encoder_stages(config: EncoderConfig) -> tuple[Stage, ...]:
    """The stages of an encoder, first to last."""
    blocks, pool = config.num_blocks, config.pool_after_block
    if pool is None:
        return (Stage(range(blocks), rate=1, first_row=0, pools=False),)
    early = Stage(range(pool), rate=2, first_row=0, pools=False)
    return early, Stage(range(pool, blocks), rate=1, first_row=early.end_row, pools=True)
