"""The features of digital silence."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from earshot.models.config import FeatureConfig
from earshot.models.features.feature_kinds import build_features


@lru_cache(maxsize=8)
def silence_of(config: FeatureConfig) -> np.float32:
    """The number that stands in each place of them."""
    return np.float32(build_features(config).silence.max().item())
