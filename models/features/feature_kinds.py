"""The features that a configuration names."""

from __future__ import annotations

from earshot.models.config import FeatureConfig
from earshot.models.features.kaldi_fbank import Fbank
from earshot.models.features.log_mel import LogMel
from earshot.models.features.whisper_fbank import WhisperFbank


def build_features(config: FeatureConfig) -> LogMel:
    """The extractor of the configured kind."""
    return WhisperFbank(config) if config.kind == "whisper" else Fbank(config)
