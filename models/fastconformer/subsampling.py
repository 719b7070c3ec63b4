"""The stems of NeMo's encoders: 3x3 convolutions over time and frequency, each of stride 2.

Rows of a batch stay independent of each other's length: before every such convolution, and after
the last, frames past a row's end are zero, as the convolution's own padding is.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.fastconformer.config import FastConformerConfig
from earshot.models.layers.masks import padding_mask

KERNEL, STRIDE = 3, 2


class ConvSubsampling(nn.Module):
    """Convolutions, then a linear layer over channels and frequencies (Rekesh 2023, section 3.1).

    Each stage is a full convolution and ReLU; with "dw_striding" all but the first are a depthwise
    one, a pointwise one and ReLU. A causal stage hears nothing from the right but what its stride
    joins, and pads frequencies as it pads time.
    """

    def __init__(self, config: FastConformerConfig) -> None:
        super().__init__()
        # Places before the first and after the last, of time and of frequency.
        self.padding = (KERNEL - 1, STRIDE - 1) if config.causal_stem else (1, 1)
        layers = _stage(1, config.stem_channels)
        for _ in range(config.stem_stages - 1):
            separable = config.subsampling == "dw_striding"
            layers += (_separable_stage if separable else _stage)(*[config.stem_channels] * 2)
        self.conv = nn.Sequential(*layers)
        self.stages = config.stem_stages
        self.rate = config.subsampling_factor
        bins = int(self.encoded_length(torch.tensor(config.features_size, device="cpu")))
        self.out = nn.Linear(config.stem_channels * bins, config.size)

    @property
    def window_before(self) -> int:
        """Feature frames before its own place, `rate` times its number, that a frame hears."""
        return self.padding[0] * (self.rate - 1)

    def window_size(self, frames: int) -> int:
        """Feature frames that so many frames in a row hear."""
        return self.rate * (frames - 1) + (KERNEL - 1) * (self.rate - 1) + 1

    def encoded_length(self, frames: Tensor) -> Tensor:
        """Frames after the stem of so many before it; none of none."""
        for _ in range(self.stages):
            frames = self.stage_length(frames)
        return frames

    def stage_length(self, frames: Tensor) -> Tensor:
        """Frames after one convolution of stride 2."""
        # A causal stage would make a frame of none, of padding alone.
        longer = (frames + sum(self.padding) - KERNEL) // STRIDE + 1
        return torch.where(frames > 0, longer, 0)

    def frames_ahead(self, features: int) -> int:
        """Frames yet to come where audio ends, of so many feature frames from the next one's place.

        There may be one whose place lies behind the end: fewer than no feature frames ahead.
        """
        for _ in range(self.stages):
            features = (features + sum(self.padding) - KERNEL) // STRIDE + 1
        return max(features, 0)

    def forward(self, features: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Features (B, T, F) of `lengths` (B,) to frames (B, T', D) and their lengths (B,).

        T' is 1 at least, so that a batch without any frame goes through all layers as well.
        """
        x = functional.pad(features, (0, 0, 0, int(features.size(1) == 0))).unsqueeze(1)
        for layer in self.conv:
            if isinstance(layer, nn.Conv2d) and layer.stride[0] == STRIDE:
                x = layer(functional.pad(_masked(x, lengths), self.padding * 2))
                lengths = self.stage_length(lengths)
            else:
                x = layer(x)
        # Channel by channel, each with all its frequencies.
        return self.out(_masked(x, lengths).transpose(1, 2).flatten(2)), lengths

    def of_windows(self, windows: Tensor, first: Tensor, lengths: Tensor) -> Tensor:
        """Windows (B, W, F) to the frames (B, T', D) that hear no more than them.

        first: (B,) the number of each row's first frame. lengths: (B,) feature frames of the whole
        stream, as far as is known. What lies outside of a stream is zero before each stage, as
        `forward` has it: NeMo's own streams begin with zero features instead, which a stage's bias
        turns into something else.
        """
        x, start = windows.unsqueeze(1), first * self.rate - self.window_before
        frequencies = (*self.padding, 0, 0)
        for layer in self.conv:
            if isinstance(layer, nn.Conv2d) and layer.stride[0] == STRIDE:
                x = layer(functional.pad(_within(x, start, lengths), frequencies))
                start = (start + self.padding[0]) // STRIDE
                lengths = self.stage_length(lengths)
            else:
                x = layer(x)
        frames: Tensor = self.out(_within(x, start, lengths).transpose(1, 2).flatten(2))
        return frames


def _stage(inputs: int, outputs: int) -> list[nn.Module]:
    return [nn.Conv2d(inputs, outputs, KERNEL, STRIDE), nn.ReLU()]


def _separable_stage(inputs: int, outputs: int) -> list[nn.Module]:
    depthwise = nn.Conv2d(inputs, inputs, KERNEL, STRIDE, groups=inputs)
    return [depthwise, nn.Conv2d(inputs, outputs, 1), nn.ReLU()]


def _masked(x: Tensor, lengths: Tensor) -> Tensor:
    """Planes (B, C, T, F) that are zero past `lengths` (B,)."""
    return x.masked_fill(~padding_mask(lengths, x.size(2))[:, None, :, None], 0.0)


def _within(x: Tensor, start: Tensor, lengths: Tensor) -> Tensor:
    """Planes (B, C, T, F) from frame `start` (B,) on, zero outside of 0 … `lengths` (B,)."""
    place = start.unsqueeze(1) + torch.arange(x.size(2), device=x.device)
    outside = (place < 0) | (place >= lengths.unsqueeze(1))
    return x.masked_fill(outside[:, None, :, None], 0.0)
