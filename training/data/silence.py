"""The features of digital silence."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from earshot.models.config import FeatureConfig
from earshot.models.feature_kinds import build_features
from earshot.models.log_mel import LogMel


def silent_frame(extractor: LogMel) -> Tensor:
    """The features `(F,)` of a frame of zeros."""
    return extractor.of_frames(torch.zeros(1, extractor.frame_length))[0]


@lru_cache(maxsize=8)
def silence_of(config: FeatureConfig) -> np.float32:
    """The number that stands in each place of them."""
    return np.float32(silent_frame(build_features(config)).max().item())
