"""Whole encoders, small and random: what a frame depends on."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from earshot.models.fastconformer.encoder import FastConformerEncoder

F = 20


def features_of(frames: int, rows: int = 1) -> torch.Tensor:
    return torch.randn(rows, frames, F, generator=torch.Generator().manual_seed(frames))


@given(frames=st.integers(1, 90))
@torch.no_grad()
def test_a_row_is_encoded_alike_alone_and_beside_a_longer_one(
    small_encoder: FastConformerEncoder, frames: int
) -> None:
    batch = features_of(97, rows=2)
    batch[0, frames:] = float("nan")
    together, lengths = small_encoder(batch, torch.tensor([frames, 97]))
    alone, _ = small_encoder(batch[:1, :frames], torch.tensor([frames]))
    assert bool(together.isfinite().all())
    torch.testing.assert_close(together[0, : lengths[0]], alone[0], rtol=0, atol=1e-5)


@torch.no_grad()
def test_a_row_without_frames_leaves_the_others_alone(small_encoder: FastConformerEncoder) -> None:
    batch = features_of(40, rows=2)
    together, lengths = small_encoder(batch, torch.tensor([0, 40]))
    alone, _ = small_encoder(batch[1:], torch.tensor([40]))
    assert lengths[0] == 0
    assert bool(together.isfinite().all())
    torch.testing.assert_close(together[1], alone[0], rtol=0, atol=1e-5)


@torch.no_grad()
def test_a_batch_without_any_frame_has_none_encoded(small_encoder: FastConformerEncoder) -> None:
    found, lengths = small_encoder(torch.zeros(2, 0, F), torch.tensor([0, 0]))
    assert lengths.tolist() == [0, 0]
    assert bool(found.isfinite().all())


@given(frames=st.integers(1, 200))
@torch.no_grad()
def test_encoded_length_counts_the_frames_of_an_utterance(
    small_encoder: FastConformerEncoder, frames: int
) -> None:
    found, lengths = small_encoder(features_of(frames), torch.tensor([frames]))
    assert found.size(1) == int(lengths[0]) == small_encoder.encoded_length(frames)


@pytest.mark.parametrize("small_encoder", ["streaming"], indirect=True)
@torch.no_grad()
def test_a_streaming_encoder_hears_no_more_than_its_chunk(
    small_encoder: FastConformerEncoder,
) -> None:
    features, whole = features_of(96), torch.tensor([96])
    changed = features.clone()
    # Encoder frame 5, the last of its chunk of two, hears feature frames up to 8 * 5.
    changed[:, 41:] += 1.0
    before, after = (small_encoder(each, whole)[0][0] for each in (features, changed))
    torch.testing.assert_close(before[:6], after[:6], rtol=0, atol=1e-6)
    assert float((before[6:] - after[6:]).abs().min(dim=1).values.max()) > 1e-4


@pytest.mark.parametrize("small_encoder", ["fastconformer"], indirect=True)
@torch.no_grad()
def test_features_are_normalised_over_the_utterance(small_encoder: FastConformerEncoder) -> None:
    features, lengths = features_of(50), torch.tensor([50])
    louder = 5.0 * features + 3.0
    found, expected = (small_encoder(each, lengths)[0] for each in (louder, features))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("small_encoder", ["shared"], indirect=True)
def test_shared_position_biases_have_a_name_in_every_layer(
    small_encoder: FastConformerEncoder,
) -> None:
    first, second = small_encoder.layers
    assert first.self_attn.pos_bias_u is second.self_attn.pos_bias_u
    names = small_encoder.state_dict()
    assert {f"layers.{layer}.self_attn.pos_bias_{name}" for layer in (0, 1) for name in "uv"} <= {
        *names
    }


@pytest.mark.parametrize("small_encoder", ["shared"], indirect=True)
def test_without_biases_only_norms_and_the_stem_have_some(
    small_encoder: FastConformerEncoder,
) -> None:
    biased = {name for name in small_encoder.state_dict() if name.endswith(".bias")}
    assert all("norm" in name or name.startswith("pre_encode.") for name in biased)
    assert "layers.0.conv.batch_norm.bias" in biased


@pytest.mark.parametrize("small_encoder", ["fastconformer"], indirect=True)
@torch.no_grad()
def test_the_stems_frames_are_scaled_where_the_model_says_so(
    small_encoder: FastConformerEncoder,
) -> None:
    features, lengths = features_of(30), torch.tensor([30])
    unscaled = FastConformerEncoder(_without_scale(small_encoder)).eval()
    unscaled.load_state_dict(small_encoder.state_dict())
    scaled, plain = (each.stem(features, lengths)[0] for each in (small_encoder, unscaled))
    torch.testing.assert_close(scaled, 4.0 * plain)


def _without_scale(encoder: FastConformerEncoder) -> object:
    return replace(encoder.config, scale_input=False)
