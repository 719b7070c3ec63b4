"""Features of a whole corpus in one memory-mapped file: an epoch costs no decoding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from earshot.models.config import FeatureConfig
from earshot.models.features.feature_kinds import build_features
from earshot.training.corpus.utterance import Utterance
from earshot.training.data.augment import Features
from earshot.training.data.row_cache import RowCache, Rows, build_row_cache
from earshot.training.data.speed import change_speed
from earshot.training.files.audio_file import read_samples


class FeatureCache(RowCache):
    """Random access to the cached features of a list of utterances."""

    def frame_count(self, index: int) -> int:
        """Frames of utterance `index`."""
        return self.length(index)

    def __getitem__(self, index: int) -> Features:
        """Features `(T, num_mel_bins)` of utterance `index`, a fresh float32 array."""
        return self.rows(index).astype(np.float32)


def build_feature_cache(
    folder: Path, utterances: Sequence[Utterance], config: FeatureConfig, speed: float = 1.0
) -> FeatureCache:
    """Opens the cache in `folder` if it holds exactly these utterances, else computes it.

    They are played `speed` times as fast; each speed, and each kind of features, needs a folder of
    its own.
    """
    extractor = build_features(config)

    def features(utterance: Utterance) -> Rows:
        samples = read_samples(utterance.path, config.sample_rate_hz)
        return extractor.of_int16(change_speed(samples, speed)).numpy()

    build_row_cache(folder, utterances, np.float16, (config.num_mel_bins,), features)
    return FeatureCache(folder)
