"""Encoder stems: convolutions that trade time resolution for channels.

A stem of rate r turns T feature frames into about T / r encoder frames and sees
`right_context` feature frames beyond the first one of each output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain

from torch import Tensor, nn

from earshot.models.config import EncoderConfig, InputLayer
from earshot.models.layers.whisper_stem import WhisperStem


@dataclass(frozen=True)
class StemShape:
    """Kernel sizes and strides along time, first layer first.

    A kernel that sees behind its window too, as Whisper's, counts from its own frame on.
    """

    kernels: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def rate(self) -> int:
        """Feature frames per encoder frame."""
        return math.prod(self.strides)

    @property
    def right_context(self) -> int:
        """Feature frames after the first that one output frame needs."""
        context, step = 0, 1
        for kernel, stride in zip(self.kernels, self.strides, strict=True):
            context += (kernel - 1) * step
            step *= stride
        return context

    def output_length(self, length: int) -> int:
        """Encoder frames for `length` feature frames."""
        for kernel, stride in zip(self.kernels, self.strides, strict=True):
            length = (length - kernel) // stride + 1
        return max(length, 0)

    def output_lengths(self, lengths: Tensor) -> Tensor:
        """The same for a tensor of lengths."""
        for kernel, stride in zip(self.kernels, self.strides, strict=True):
            lengths = (lengths - kernel) // stride + 1
        return lengths.clamp(min=0)


STEM_SHAPES: dict[InputLayer, StemShape] = {
    "conv2d": StemShape((3, 3), (2, 2)),
    "conv2d6": StemShape((3, 5), (2, 3)),
    "conv2d8": StemShape((3, 3, 3), (2, 2, 2)),
    "conv1d4": StemShape((3, 3), (2, 2)),
    "conv1d6": StemShape((3, 5), (2, 3)),
    "conv1d8": StemShape((3, 3, 3), (2, 2, 2)),
    "whisper": StemShape((2, 2), (1, 2)),
}


def encoder_shape(config: EncoderConfig) -> StemShape:
    """An encoder's shape along time: its stem's, and two frames that become one where it pools."""
    stem = STEM_SHAPES[config.input_layer]
    if config.pool_after_block is None:
        return stem
    return StemShape((*stem.kernels, 2), (*stem.strides, 2))


class Conv2dStem(nn.Module):
    """WeNet's stems: 2-D convolutions over time and frequency, then a linear layer."""

    def __init__(self, input_layer: InputLayer, input_dim: int, output_size: int) -> None:
        super().__init__()
        shape = STEM_SHAPES[input_layer]
        channels = (1,) + (output_size,) * len(shape.kernels)
        self.conv = nn.Sequential(
            *chain.from_iterable(
                (nn.Conv2d(channels[i], channels[i + 1], kernel, stride), nn.ReLU())
                for i, (kernel, stride) in enumerate(zip(shape.kernels, shape.strides, strict=True))
            )
        )
        projection = nn.Linear(output_size * shape.output_length(input_dim), output_size)
        # WeNet names this layer `out.0` at rate 4 and `linear` at the others.
        if input_layer == "conv2d":
            self.out = nn.Sequential(projection)
        else:
            self.linear = projection

    def forward(self, features: Tensor) -> Tensor:
        """(B, T, F) features to (B, T', D)."""
        maps = self.conv(features.unsqueeze(1))  # (B, D, T', F')
        rows = maps.transpose(1, 2).flatten(2)
        projected: Tensor = self.out(rows) if hasattr(self, "out") else self.linear(rows)
        return projected


class Conv1dStem(nn.Module):
    """Our cheap stems: 1-D convolutions over time with the mel bins as channels."""

    def __init__(self, input_layer: InputLayer, input_dim: int, output_size: int) -> None:
        super().__init__()
        shape = STEM_SHAPES[input_layer]
        channels = (input_dim,) + (output_size,) * len(shape.kernels)
        self.conv = nn.Sequential(
            *chain.from_iterable(
                (nn.Conv1d(channels[i], channels[i + 1], kernel, stride), nn.ReLU())
                for i, (kernel, stride) in enumerate(zip(shape.kernels, shape.strides, strict=True))
            )
        )
        self.linear = nn.Linear(output_size, output_size)

    def forward(self, features: Tensor) -> Tensor:
        """(B, T, F) features to (B, T', D)."""
        projected: Tensor = self.linear(self.conv(features.transpose(1, 2)).transpose(1, 2))
        return projected


def build_stem(input_layer: InputLayer, input_dim: int, output_size: int) -> nn.Module:
    """The stem that `input_layer` names."""
    if input_layer == "whisper":
        return WhisperStem(input_dim, output_size)
    stem = Conv1dStem if input_layer.startswith("conv1d") else Conv2dStem
    return stem(input_layer, input_dim, output_size)
