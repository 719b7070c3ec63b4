"""Features and encoders against the real NeMo's, of four utterances of unequal length."""

import pytest
import torch
from golden_nemo import GoldenNemo, largest_difference

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.normalise import normalise_per_feature

# The smallest mistakes that were tried move features by 1.1e-4 (no 1e-5 beside the deviation) and
# encodings by 7e-4 (no bias u).
FEATURES_ATOL, ENCODER_ATOL = 5e-5, 1e-4


def normalised(golden: GoldenNemo) -> torch.Tensor:
    if golden.encoder.config.normalise == "none":
        return golden.features()
    return normalise_per_feature(golden.features(), golden.frames)


def test_features_are_nemos(golden_nemo: GoldenNemo) -> None:
    expected = golden_nemo.arrays["features"].mT
    found = normalised(golden_nemo)
    assert largest_difference(found, expected, golden_nemo.frames) < FEATURES_ATOL


def test_as_many_frames_as_nemo_counts_are_valid(golden_nemo: GoldenNemo) -> None:
    counted = [golden_nemo.mel.frame_count(count) for count in golden_nemo.samples.tolist()]
    assert counted == golden_nemo.frames.tolist()


@torch.no_grad()
def test_the_stem_is_nemos(golden_nemo: GoldenNemo) -> None:
    arrays = golden_nemo.arrays
    found, lengths = golden_nemo.encoder.pre_encode(normalised(golden_nemo), golden_nemo.frames)
    assert lengths.tolist() == arrays["pre_encode_lengths"].tolist()
    assert largest_difference(found, arrays["pre_encode"], lengths) < ENCODER_ATOL


@torch.no_grad()
def test_the_encoder_is_nemos(golden_nemo: GoldenNemo) -> None:
    arrays = golden_nemo.arrays
    found, lengths = golden_nemo.encoder(golden_nemo.features(), golden_nemo.frames)
    assert lengths.tolist() == arrays["encoded_lengths"].tolist()
    assert largest_difference(found, arrays["encoded"].mT, lengths) < ENCODER_ATOL


@pytest.mark.parametrize("golden_nemo", ["rnnt_streaming"], indirect=True)
@pytest.mark.parametrize("context", [(14, 6), (14, 1), (14, 0)])
@torch.no_grad()
def test_the_encoder_is_nemos_in_every_context(
    golden_nemo: GoldenNemo, context: tuple[int, int]
) -> None:
    expected = golden_nemo.arrays[f"encoded_ctx_{context[0]}_{context[1]}"].mT
    asked = AttentionContext(*context)
    found, lengths = golden_nemo.encoder(golden_nemo.features(), golden_nemo.frames, asked)
    assert largest_difference(found, expected, lengths) < ENCODER_ATOL


def test_parameters_have_nemos_names_and_shapes(golden_nemo: GoldenNemo) -> None:
    ours = golden_nemo.encoder.state_dict(prefix="encoder.")
    theirs = {
        name: shape for name, shape in golden_nemo.shapes.items() if name.startswith("encoder.")
    }
    assert {name: list(value.shape) for name, value in ours.items()} == theirs


@pytest.mark.parametrize("golden_nemo", ["rnnt_offline", "tdt_offline"], indirect=True)
def test_windows_and_filters_without_a_checkpoint_are_nemos(golden_nemo: GoldenNemo) -> None:
    own = type(golden_nemo.mel)(golden_nemo.mel.config)
    for name, value in golden_nemo.mel.state_dict().items():
        torch.testing.assert_close(own.state_dict()[name], value, rtol=0, atol=1e-7)
