"""Utterances by themselves on a CPU, natively: what `FastConformerEncoder` makes of them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.normalise import normalise_per_feature
from earshot.models.fastconformer.steps.native_encoder import NativeEncoder, Reach
from earshot.models.native.precision import Precision


class NativeWhole:
    """An encoder in its first context; an utterance has the same bits in any company."""

    def __init__(
        self,
        encoder: FastConformerEncoder,
        longest: int,
        processor: str | None = None,
        precision: Precision = "float32",
    ) -> None:
        """longest: feature frames of an utterance at most."""
        self._config, self._stem = encoder.config, encoder.pre_encode  # its layers were copied
        frames = encoder.encoded_length(longest)
        self._native = NativeEncoder(encoder, Reach(frames, frames), processor, precision)

    def __call__(self, features: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Features (B, T, F) of lengths (B,) to frames (B, T', D) and lengths (B,).

        Raises ValueError for an utterance longer than the longest.
        """
        config, stem = self._config, self._stem
        if config.normalise == "per_feature":
            features = _normalised(features, lengths)
        frames = stem.encoded_length(lengths)
        before, window = stem.window_before, stem.window_size(max(int(frames.max()), 1))
        padded = functional.pad(features, (0, 0, before, window - before - features.size(1)))
        x = self._native.stem(padded, torch.zeros_like(lengths), lengths, frames)
        in_chunks = config.context_style == "chunked_limited"
        return self._native.hear_alone(x, frames, config.contexts[0], in_chunks=in_chunks), frames


def _normalised(features: Tensor, lengths: Tensor) -> Tensor:
    """Rows one by one: sums over a batch are as long as its longest row."""
    rows = [
        normalise_per_feature(row[None, :length], torch.tensor([length]))[0]
        for row, length in zip(features, lengths.tolist(), strict=True)
    ]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
