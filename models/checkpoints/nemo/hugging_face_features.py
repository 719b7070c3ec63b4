"""Features as a processor of transformers makes them, by its configuration.

Source: transformers 5.24, the feature extractors of parakeet and nemotron_asr_streaming.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from earshot.models.checkpoints.nemo.section import Section
from earshot.models.errors import quote
from earshot.models.fastconformer.config import Normalisation

NORMALISED: dict[str, Normalisation] = {
    "ParakeetFeatureExtractor": "per_feature",
    "NemotronAsrStreamingFeatureExtractor": "none",
}
"""By the kind of extractor: neither says it by a key."""
ONLY_VALUES: dict[str, tuple[Any, ...]] = {
    "sampling_rate": (16_000,),
    "hop_length": (160,),
    "win_length": (400,),
    "n_fft": (512,),
    "preemphasis": (0.97,),
}
"""Keys of which NemoMel has one value, which transformers assumes where there is none."""
PRECISIONS = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


@dataclass(frozen=True)
class HuggingFaceFeatures:
    """Features of one model.

    precision: that window and filters are rounded to, before they compute in float32.
    """

    normalise: Normalisation
    precision: torch.dtype = torch.float32


def read_features(processor: Section, bins: int, kind: str) -> HuggingFaceFeatures:
    """Features of a processor, or, as older releases write them, of a file of their own.

    bins: F, which the encoder takes. kind: of extractor, where no file says it. Raises ConfigError
    for features that NemoMel does not make.
    """
    nested = "feature_extractor" in processor.values
    features = processor.inside("feature_extractor") if nested else processor
    features.require_only(ONLY_VALUES | {"feature_size": (bins,)})
    extractor = features.values.get("feature_extractor_type", kind)
    if not isinstance(extractor, str) or extractor not in NORMALISED:
        known = ", ".join(NORMALISED)
        reason = f"is {quote(extractor)}, none of {known}"
        raise features.wrong("feature_extractor_type", reason)
    precision = features.choice("mel_filters_dtype", "float32", tuple(PRECISIONS))
    return HuggingFaceFeatures(NORMALISED[extractor], PRECISIONS[precision])
