"""Decoded recordings in one memory-mapped file of 16-bit samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from earshot.models.config import FeatureConfig
from earshot.models.features.feature_kinds import build_features
from earshot.training.corpus.utterance import Utterance
from earshot.training.data.augment import Features
from earshot.training.data.row_cache import RowCache, Rows, build_row_cache
from earshot.training.files.audio_file import read_samples


class AudioCache(RowCache):
    """Random access to the samples of a list of utterances, and to features made of them."""

    def __init__(self, folder: Path, config: FeatureConfig) -> None:
        super().__init__(folder)
        self._extractor = build_features(config)

    def frame_count(self, index: int) -> int:
        """Feature frames of utterance `index`."""
        return self._extractor.frame_count(self.length(index))

    def __getitem__(self, index: int) -> Features:
        """Features `(T, num_mel_bins)` of utterance `index`, computed now."""
        samples = torch.from_numpy(self.rows(index).astype(np.float32))
        features: Features = self._extractor.of_int16(samples).numpy()
        return features

    def samples(self, device: torch.device) -> Tensor:
        """All recordings one after another, int16; on a CPU they stay on disk until they are used.

        Recording i begins at `starts[i]`.
        """
        count = int(self.starts[-1])
        if count == 0:
            return torch.empty(0, dtype=torch.int16, device=device)
        mapped = torch.from_file(str(self.file), shared=False, size=count, dtype=torch.int16)
        return mapped.to(device)


def build_audio_cache(
    folder: Path, utterances: Sequence[Utterance], config: FeatureConfig
) -> AudioCache:
    """Opens the cache in `folder` if it holds exactly these utterances, else decodes them."""

    def samples(utterance: Utterance) -> Rows:
        wave = read_samples(utterance.path, config.sample_rate_hz)
        return wave.round().clamp(-32768, 32767).numpy()

    build_row_cache(folder, utterances, np.int16, (), samples)
    return AudioCache(folder, config)
