"""Features and encoders against the real NeMo's, of four utterances of unequal length."""

import pytest
import torch
from nemo_golden import NemoGolden
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.normalise import normalise_per_feature
from earshot.models.features.nemo_mel import NemoMel

# The smallest mistakes that were tried move features by 1.1e-4 (no 1e-5 beside the deviation) and
# encodings by 7e-4 (no bias u).
FEATURES_ATOL, ENCODER_ATOL = 5e-5, 1e-4
SPECTRUM_RTOL = 2.5e-7
"""Of amplitudes: FFTs of other processors (AVX-512 beside AVX2) round otherwise."""


def raw_features(golden: NemoGolden) -> tuple[Tensor, Tensor]:
    """Ours (B, T, F) of the four clips in one batch, not yet normalised; lengths (B,) by NeMo."""
    samples = torch.tensor([len(clip) for clip in golden.audio])
    features = golden.model.features(pad_sequence(golden.audio, batch_first=True), samples)
    return features, golden.arrays["feature_lengths"]


def features_of(golden: NemoGolden) -> tuple[Tensor, Tensor]:
    """Ours (B, T, F) as the stem takes them, and their lengths (B,)."""
    features, lengths = raw_features(golden)
    if golden.model.encoder.config.normalise == "none":
        return features, lengths
    return normalise_per_feature(features, lengths), lengths


def largest_difference(found: Tensor, expected: Tensor, lengths: Tensor) -> float:
    """Over the frames of (B, T, D) within `lengths` (B,)."""
    rows = zip(found, expected, lengths.tolist(), strict=True)
    return max(float((ours[:n] - theirs[:n]).abs().max()) for ours, theirs, n in rows)


def test_features_are_nemos(golden: NemoGolden) -> None:
    """But for a spectrum's rounding, of a frame's loudest bin: its weak bins show it."""
    (raw, _), (found, lengths) = raw_features(golden), features_of(golden)
    weaker = ((raw.amax(-1, keepdim=True) - raw) / 2).exp()
    allowed = FEATURES_ATOL + SPECTRUM_RTOL * weaker
    expected = golden.arrays["features"].mT[:, : found.size(1)]
    assert largest_difference(found / allowed, expected / allowed, lengths) < 1


def test_as_many_frames_as_nemo_counts_are_valid(golden: NemoGolden) -> None:
    counted = [golden.model.features.frame_count(len(clip)) for clip in golden.audio]
    assert counted == golden.arrays["feature_lengths"].tolist()


def test_the_stem_is_nemos(golden: NemoGolden) -> None:
    found, lengths = golden.model.encoder.pre_encode(*features_of(golden))
    assert lengths.tolist() == golden.arrays["pre_encode_lengths"].tolist()
    assert largest_difference(found, golden.arrays["pre_encode"], lengths) < ENCODER_ATOL


def test_the_encoder_is_nemos(golden: NemoGolden) -> None:
    found, lengths = golden.model.encoder(*raw_features(golden))
    assert lengths.tolist() == golden.arrays["encoded_lengths"].tolist()
    assert largest_difference(found, golden.arrays["encoded"].mT, lengths) < ENCODER_ATOL


@pytest.mark.parametrize("golden", ["rnnt_streaming"], indirect=True)
@pytest.mark.parametrize("context", [(14, 6), (14, 1), (14, 0)])
def test_the_encoder_is_nemos_in_every_context(
    golden: NemoGolden, context: tuple[int, int]
) -> None:
    expected = golden.arrays[f"encoded_ctx_{context[0]}_{context[1]}"].mT
    found, lengths = golden.model.encoder(*raw_features(golden), AttentionContext(*context))
    assert largest_difference(found, expected, lengths) < ENCODER_ATOL


def test_parameters_have_nemos_names_and_shapes(golden: NemoGolden) -> None:
    ours = golden.model.encoder.state_dict(prefix="encoder.")
    theirs = {
        name: shape
        for name, (shape, _) in golden.decoded["state_dict"].items()
        if name.startswith("encoder.")
    }
    assert {name: list(value.shape) for name, value in ours.items()} == theirs


@pytest.mark.parametrize("golden", ["rnnt_offline", "tdt_offline"], indirect=True)
def test_windows_and_filters_without_a_checkpoint_are_nemos(golden: NemoGolden) -> None:
    theirs = golden.model.features.state_dict()
    own = NemoMel(golden.model.features.config).state_dict()
    for name in ("window", "filters"):
        torch.testing.assert_close(own[name], theirs[name], rtol=0, atol=1e-7)
