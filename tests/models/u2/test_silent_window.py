"""The silent window is what the encoder hears of silence, as long as the decoder was taught."""

from dataclasses import replace

import pytest
import torch
from tiny_models import TINY, TINY_ENCODERS, make_tiny_model

from earshot.models.config import FeatureConfig
from earshot.models.features.feature_kinds import build_features
from earshot.models.u2.silent_window import silent_window
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_decoder_config import WhisperDecoderConfig

CHUNK = 4


def heard_by(encoder: str, window_frames: int) -> U2Model:
    """A model of such an encoder, and of a decoder that was taught with such windows."""
    made = make_tiny_model(**TINY_ENCODERS[encoder]).config
    decoder = WhisperDecoderConfig(
        vocab_size=50, positions=12, size=made.encoder.encoded_size, attention_heads=2,
        num_blocks=1, prompt=(40,), end=42, window_frames=window_frames,
    )  # fmt: skip
    features = FeatureConfig(kind="whisper")
    decoding = replace(made.decoding, chunk_size=CHUNK)
    torch.manual_seed(3)
    config = replace(made, decoder=decoder, features=features, decoding=decoding)
    return U2Model(config).eval().requires_grad_(False)


@pytest.mark.parametrize("encoder", ["whisper", "whisper_pooled_between"])
def test_it_is_silence_as_the_encoder_hears_it_in_chunks(encoder):
    model = heard_by(encoder, 20)
    silence = torch.zeros(1, 200 * 160)
    features = build_features(model.config.features)(silence)
    chunked, _ = model.encoder(features, torch.tensor([features.size(1)]), CHUNK)
    window = silent_window(model)
    assert window.shape == (20, model.config.encoder.encoded_size)
    torch.testing.assert_close(window, chunked[0, :20], rtol=1e-4, atol=1e-5)
    whole, _ = model.encoder(features, torch.tensor([features.size(1)]))
    assert not torch.allclose(window, whole[0, :20], atol=1e-3)


def test_a_decoder_that_was_taught_with_segments_has_none():
    assert silent_window(heard_by("whisper", 0)) is None
    assert silent_window(U2Model(TINY)) is None
