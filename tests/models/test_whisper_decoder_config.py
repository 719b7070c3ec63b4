"""A Whisper decoder's config is checked, and lies in a model's as another decoder's does."""

import json
from dataclasses import replace

import pytest
from tiny_models import TINY

from earshot.models.config import ModelConfig
from earshot.models.errors import ConfigError
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder_config import WhisperDecoderConfig

SMALL = WhisperDecoderConfig(
    vocab_size=50, positions=12, size=16, attention_heads=2, num_blocks=1, prompt=(40, 41), end=42
)


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 15},
        {"prompt": ()},
        {"prompt": tuple(range(12))},
        {"prompt": (50,)},
        {"end": -1},
        {"num_blocks": 0},
        {"window_frames": -1},
        {"window_frames": 1_501},
        {"positions": 2.0},
    ],
)
def test_what_no_decoder_can_have_is_refused(wrong):
    with pytest.raises(ConfigError):
        replace(SMALL, **wrong)


def test_a_model_with_it_is_read_as_it_was_written():
    config = replace(TINY, decoder=SMALL)
    assert ModelConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_it_must_be_as_wide_as_the_frames_that_it_hears():
    with pytest.raises(ConfigError, match="frames of 16"):
        replace(TINY, decoder=replace(SMALL, size=20))


def test_unknown_keys_are_named():
    written = replace(TINY, decoder=SMALL).to_dict()
    written["decoder"]["heads"] = 3
    with pytest.raises(ConfigError, match="heads"):
        ModelConfig.from_dict(written)


def test_the_model_has_that_decoder_and_no_other():
    model = U2Model(replace(TINY, decoder=SMALL))
    assert isinstance(model.whisper_decoder, WhisperDecoder)
    assert model.right_decoder is None
