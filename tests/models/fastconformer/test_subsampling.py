"""The stems: lengths, padding, what a frame hears."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from earshot.models.fastconformer.config import FastConformerConfig
from earshot.models.fastconformer.subsampling import ConvSubsampling

FACTORS = st.sampled_from([2, 4, 8, 16])
KINDS = st.sampled_from(["dw_striding", "striding"])


def stem_of(kind: str, factor: int, causal: bool) -> ConvSubsampling:
    torch.manual_seed(0)
    return ConvSubsampling(
        FastConformerConfig(
            features_size=18,
            size=8,
            layers=1,
            heads=1,
            feed_forward_size=8,
            stem_channels=5,
            subsampling=kind,
            subsampling_factor=factor,
            causal_stem=causal,
        )
    )


@given(kind=KINDS, factor=FACTORS, causal=st.booleans(), frames=st.integers(1, 70))
@torch.no_grad()
def test_there_are_as_many_frames_as_the_lengths_say(
    kind: str, factor: int, causal: bool, frames: int
) -> None:
    stem = stem_of(kind, factor, causal)
    found, lengths = stem(torch.randn(1, frames, 18), torch.tensor([frames]))
    assert found.shape == (1, int(lengths[0]), 8)


@given(kind=KINDS, factor=FACTORS, causal=st.booleans(), frames=st.integers(0, 50))
@torch.no_grad()
def test_what_lies_past_a_rows_end_changes_nothing(
    kind: str, factor: int, causal: bool, frames: int
) -> None:
    stem, features = stem_of(kind, factor, causal), torch.randn(2, 50, 18)
    features[1, :frames] = features[0, :frames]
    features[0, frames:] = float("nan")
    found, lengths = stem(features, torch.tensor([frames, frames]))
    length = int(lengths[0])
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=1e-5)
    if frames:
        alone, _ = stem(features[1:, :frames], torch.tensor([frames]))
        torch.testing.assert_close(found[0, :length], alone[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
def test_no_frames_become_none(causal: bool) -> None:
    assert int(stem_of("dw_striding", 8, causal).encoded_length(torch.tensor(0))) == 0


@given(kind=KINDS, factor=FACTORS, place=st.integers(0, 79))
@torch.no_grad()
def test_a_causal_frame_hears_nothing_behind_its_own(kind: str, factor: int, place: int) -> None:
    """Frame t hears feature frames up to factor * t."""
    stem, features = stem_of(kind, factor, causal=True), torch.randn(1, 80, 18)
    changed = features.clone()
    changed[:, place:] += 1.0
    before, after = (stem(each, torch.tensor([80]))[0] for each in (features, changed))
    unmoved = -(-place // factor)
    assert torch.equal(before[:, :unmoved], after[:, :unmoved])


@pytest.mark.parametrize(("causal", "bins"), [(False, 3), (True, 4)])
def test_frequencies_are_padded_as_time_is(causal: bool, bins: int) -> None:
    """18 bins become 9, 5, 3; causally 10, 6, 4."""
    assert stem_of("dw_striding", 8, causal).out.in_features == 5 * bins


@torch.no_grad()
def test_a_causal_stem_pads_two_frequencies_below() -> None:
    """So the first bin alone of 18 is heard by the first two places of ten."""
    stem = stem_of("striding", 2, causal=True)
    planes = []
    stem.conv[0].register_forward_hook(lambda *seen: planes.append(seen[-1]))
    silent = torch.zeros(1, 2, 18)
    stem(silent, torch.tensor([2]))
    stem(silent + torch.eye(18)[0], torch.tensor([2]))
    moved = (planes[1] - planes[0]).abs().amax(dim=(0, 1, 2)) > 0
    assert moved.tolist() == [True, True] + 8 * [False]


@torch.no_grad()
def test_the_linear_layer_hears_channel_by_channel() -> None:
    stem = stem_of("striding", 2, causal=False)
    planes = []
    stem.conv[1].register_forward_hook(lambda *seen: planes.append(seen[-1]))
    found, _ = stem(torch.randn(1, 6, 18), torch.tensor([6]))
    channels_first = planes[0].permute(0, 2, 1, 3).reshape(1, 3, -1)
    torch.testing.assert_close(stem.out(channels_first), found)


@given(kind=KINDS, factor=FACTORS, causal=st.booleans(), features=st.integers(1, 300))
def test_an_end_gives_the_frames_that_are_left_of_the_whole(
    kind: str, factor: int, causal: bool, features: int
) -> None:
    stem = stem_of(kind, factor, causal)
    whole = int(stem.encoded_length(torch.tensor(features)))
    left = [stem.frames_ahead(features - done * factor) for done in range(whole + 1)]
    assert left == list(range(whole, -1, -1))
