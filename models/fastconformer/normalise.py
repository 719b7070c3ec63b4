"""Normalisation of features over each utterance, as NeMo's `per_feature` has it."""

from __future__ import annotations

from torch import Tensor

from earshot.models.layers.masks import padding_mask

STD_OFFSET = 1e-5
"""Added to each deviation: a bin that never changes becomes zero."""


def normalise_per_feature(features: Tensor, lengths: Tensor) -> Tensor:
    """Features (B, T, F) with mean 0 and unbiased deviation 1 in each bin of each row.

    Frames past `lengths` (B,) count for nothing and become zero, and so does a row's only frame.
    """
    padded = ~padding_mask(lengths, features.size(1)).unsqueeze(2)
    frames = lengths.clamp(min=1).view(-1, 1, 1)
    mean = features.masked_fill(padded, 0.0).sum(1, keepdim=True) / frames
    centred = (features - mean).masked_fill(padded, 0.0)
    variance = centred.square().sum(1, keepdim=True) / (frames - 1).clamp(min=1)
    return centred / (variance.sqrt() + STD_OFFSET)
