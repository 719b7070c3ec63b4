"""What a NeMo model's configuration refuses."""

from dataclasses import replace
from typing import Any

import pytest

from earshot.models.config import FeatureConfig
from earshot.models.errors import ConfigError
from earshot.models.fastconformer.config import (
    AttentionContext,
    FastConformerConfig,
    FastConformerModelConfig,
    PromptConfig,
)
from earshot.models.transducer_config import TransducerConfig

ENCODER = FastConformerConfig(
    features_size=80, size=8, layers=1, heads=2, feed_forward_size=8, stem_channels=4
)
HEAD = TransducerConfig(vocab_size=5, encoder_size=8, predictor_size=4, joint_size=3)
MODEL = FastConformerModelConfig(5, ENCODER, transducer=HEAD)


@pytest.mark.parametrize(
    "change",
    [
        {"subsampling": "stacking"},
        {"subsampling_factor": 3},
        {"heads": 3},
        {"size": 0},
        {"layers": 10**6},
        {"kernel": 8},
        {"normalise": "all_features"},
        {"contexts": ()},
        {"context_style": "chunked_limited"},
        {"context_style": "chunked_limited", "contexts": (AttentionContext(7, 2),)},
    ],
)
def test_an_encoder_that_cannot_be_built_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        replace(ENCODER, **change)


def test_a_causal_convolution_may_have_an_even_kernel() -> None:
    assert replace(ENCODER, kernel=8, causal_convolution=True).kernel == 8


def test_each_stage_of_the_stem_halves_the_rate() -> None:
    assert replace(ENCODER, subsampling_factor=8).stem_stages == 3


@pytest.mark.parametrize(
    "change",
    [
        {"transducer": None},
        {"transducer": replace(HEAD, vocab_size=6)},
        {"transducer": replace(HEAD, encoder_size=9)},
        {"features": FeatureConfig(kind="nemo", num_mel_bins=128)},
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        replace(MODEL, **change)


def test_a_prompt_has_a_place_for_each_language() -> None:
    with pytest.raises(ConfigError, match="de-DE"):
        PromptConfig(size=2, hidden_size=3, languages={"en-US": 0, "de-DE": 2})
