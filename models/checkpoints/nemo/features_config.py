"""NeMo's `preprocessor` as our configuration.

Source: the constructor of nemo_toolkit 3.0.0, whose defaults stand here. Every key that would
change what comes out has the one value that we implement.
"""

from __future__ import annotations

from typing import Any

from earshot.models.checkpoints.nemo.section import Section
from earshot.models.config import FeatureConfig

SAMPLE_RATE = 16_000

PREPROCESSOR_VALUES: dict[str, tuple[Any, ...]] = {
    "sample_rate": (SAMPLE_RATE,),
    "window_size": (0.025, None),
    "window_stride": (0.01, None),
    "n_window_size": (400, None),
    "n_window_stride": (160, None),
    "window": ("hann",),
    "n_fft": (512, None),
    "preemph": (0.97,),
    "lowfreq": (0,),
    "highfreq": (8000, None, 0),
    "log": (True,),
    "log_zero_guard_type": ("add",),
    "log_zero_guard_value": (2.0**-24,),
    "frame_splicing": (1,),
    "exact_pad": (False,),
    "mag_power": (2.0,),
    "mel_norm": ("slaney",),
}
PREPROCESSOR_KEYS = {"_target_", "features", "normalize"}
# Without a part in what a trained network hears: frames beyond an utterance are masked.
IGNORED_PREPROCESSOR_KEYS = {
    "dither",
    "pad_to",
    "pad_value",
    "rng",
    "nb_augmentation_prob",
    "nb_max_freq",
    "use_torchaudio",
    "stft_exact_pad",
    "stft_conv",
    "max_duration",
    "use_grads",
}


def read_features(preprocessor: Section) -> FeatureConfig:
    """The features that a preprocessor makes. Raises ConfigError for others than ours."""
    preprocessor.require_target("AudioToMelSpectrogramPreprocessor")
    known = PREPROCESSOR_KEYS | IGNORED_PREPROCESSOR_KEYS
    preprocessor.require_known(known, set(PREPROCESSOR_VALUES))
    preprocessor.require_only(PREPROCESSOR_VALUES)
    if not (preprocessor.values.get("window_size") or preprocessor.values.get("n_window_size")):
        raise preprocessor.wrong("window_size", "is missing, and NeMo's 20 ms are not supported")
    with preprocessor.named({"num_mel_bins": "features"}):
        return FeatureConfig(kind="nemo", num_mel_bins=preprocessor.whole("features", 64))


def is_normalised(preprocessor: Section) -> bool:
    """Whether features are, over the utterance; raises ConfigError for another way.

    NeMo takes every name that it does not know, such as NA, for none.
    """
    named = preprocessor.values.get("normalize", "per_feature")
    if not named or (isinstance(named, str) and named.lower() in ("na", "none")):
        return False
    return preprocessor.choice("normalize", "", ("per_feature",)) == "per_feature"
