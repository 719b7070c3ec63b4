"""The features that a folder of transformers asks for, by the configuration of its processor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from earshot.models.checkpoints.hugging_face_folder import read_json
from earshot.models.checkpoints.nemo.stated_keys import StatedKeys
from earshot.models.fastconformer.config import Normalisation

PROCESSOR = "processor_config.json"
OLDER_PROCESSOR = "preprocessor_config.json"
NORMALISED: dict[str, Normalisation] = {
    "ParakeetFeatureExtractor": "per_feature",
    "NemotronAsrStreamingFeatureExtractor": "none",
}
"""By the kind of extractor: neither says it by a key."""
ONLY_VALUES = {
    "sampling_rate": 16_000,
    "hop_length": 160,
    "win_length": 400,
    "n_fft": 512,
    "preemphasis": 0.97,
}
"""Keys of which NemoMel has one value, which transformers assumes where there is none."""
PRECISIONS = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


@dataclass(frozen=True)
class HuggingFaceFeatures:
    """How features are made.

    precision: that window and filters are rounded to, before they compute in float32.
    """

    normalise: Normalisation
    precision: torch.dtype = torch.float32


def read_processor(folder: Path) -> StatedKeys | None:
    """What the processor's file says, or an older release's of the features alone.

    None without either. Raises CheckpointError for a file that is no mapping.
    """
    for name in (PROCESSOR, OLDER_PROCESSOR):
        if (folder / name).is_file():
            return StatedKeys(read_json(folder / name), str(folder / name))
    return None


def read_features(processor: StatedKeys | None, bins: int, kind: str) -> HuggingFaceFeatures:
    """Features of a processor; without one, those of the extractor `kind` by its defaults.

    bins: F, which the encoder takes. Raises ConfigError for features that NemoMel does not make.
    """
    if processor is None:
        return HuggingFaceFeatures(NORMALISED[kind])
    nested = "feature_extractor" in processor
    keys = processor.section("feature_extractor") if nested else processor
    keys.require(ONLY_VALUES | {"feature_size": bins})
    found, name = keys.word("feature_extractor_type", kind), "mel_filters_dtype"
    if found not in NORMALISED:
        raise keys.refuse("feature_extractor_type", f"one of {', '.join(NORMALISED)}")
    precision = keys.word(name, "float32")
    if precision not in PRECISIONS:
        raise keys.refuse(name, f"one of {', '.join(PRECISIONS)}")
    return HuggingFaceFeatures(NORMALISED[found], PRECISIONS[precision])
