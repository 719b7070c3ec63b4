"""The features that a configuration names."""

from __future__ import annotations

from collections.abc import Callable

from earshot.models.config import FeatureConfig, FeatureKind
from earshot.models.features.kaldi_fbank import Fbank
from earshot.models.features.log_mel import LogMel
from earshot.models.features.nemo_mel import NemoMel
from earshot.models.features.whisper_fbank import WhisperFbank

KINDS: dict[FeatureKind, Callable[[FeatureConfig], LogMel]] = {
    "kaldi": Fbank,
    "whisper": WhisperFbank,
    "nemo": NemoMel,
}


def build_features(config: FeatureConfig) -> LogMel:
    """The extractor of the configured kind."""
    return KINDS[config.kind](config)
