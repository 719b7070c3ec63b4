"""NeMo's FastConformer and Conformer encoders, for whole utterances.

Parameters have the names of NeMo's checkpoints, below `encoder.` there. It has no dropout: it is
for inference.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.contexts import attention_mask
from earshot.models.fastconformer.layer import FastConformerLayer
from earshot.models.fastconformer.normalise import normalise_per_feature
from earshot.models.fastconformer.positions import relative_positions
from earshot.models.fastconformer.relative_attention import PositionBiases
from earshot.models.fastconformer.subsampling import ConvSubsampling
from earshot.models.layers.masks import padding_mask


class FastConformerEncoder(nn.Module):
    """A stem that subsamples time, and conformer layers (Rekesh 2023, section 3).

    A row's frames do not depend on the rows beside it, but for rounding.
    """

    def __init__(self, config: FastConformerConfig) -> None:
        super().__init__()
        self.config = config
        self.pre_encode = ConvSubsampling(config)
        self.layers = nn.ModuleList(
            FastConformerLayer(config, biases) for biases in _position_biases(config)
        )

    def encoded_length(self, frames: int) -> int:
        """Encoder frames of so many feature frames."""
        return int(self.pre_encode.encoded_length(torch.tensor(frames)))

    def forward(
        self, features: Tensor, lengths: Tensor, context: AttentionContext | None = None
    ) -> tuple[Tensor, Tensor]:
        """Features (B, T, F), as they are extracted, of `lengths` (B,) in frames.

        context: the first of the configured, if None. Returns frames (B, T', D), of which those
        past a row's length mean nothing, and lengths (B,).
        """
        x, lengths = self.stem(features, lengths)
        context = context or self.config.contexts[0]
        seen = attention_mask(lengths, x.size(1), context, self.config.context_style)
        valid = padding_mask(lengths, x.size(1))
        positions = relative_positions(x.size(1), x.size(1), x)
        for layer in self.layers:
            x = layer(x, positions, seen, valid)
        return x, lengths

    def stem(self, features: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The layers' input (B, T', D) and its lengths (B,): normalised, subsampled, scaled."""
        if self.config.normalise == "per_feature":
            features = normalise_per_feature(features, lengths)
        x, lengths = self.pre_encode(features, lengths)
        return self.scaled(x), lengths

    def scaled(self, x: Tensor) -> Tensor:
        """Frames of the stem (…, D) as the layers take them."""
        return x * math.sqrt(self.config.size) if self.config.scale_input else x


def _position_biases(config: FastConformerConfig) -> list[PositionBiases]:
    """Biases of each layer: the same ones, if they are shared."""
    if config.shared_positions:
        return [PositionBiases(config)] * config.layers
    return [PositionBiases(config) for _ in range(config.layers)]
