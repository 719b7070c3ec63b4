"""Features of mean 0 and deviation 1, whoever shares the batch."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from earshot.models.fastconformer.normalise import normalise_per_feature


def features_of(lengths: list[int], seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 3.0 * torch.randn(len(lengths), max(lengths), 4, generator=generator) - 7.0


@given(lengths=st.lists(st.integers(2, 30), min_size=1, max_size=4))
def test_each_bin_of_each_row_has_mean_zero_and_deviation_one(lengths: list[int]) -> None:
    found = normalise_per_feature(features_of(lengths), torch.tensor(lengths))
    for row, length in zip(found, lengths, strict=True):
        torch.testing.assert_close(row[:length].mean(0), torch.zeros(4), rtol=0, atol=1e-5)
        torch.testing.assert_close(row[:length].std(0), torch.ones(4), rtol=0, atol=1e-3)


def test_frames_past_the_length_are_zero_whatever_they_were() -> None:
    features = features_of([5, 9])
    features[0, 5:] = float("nan")
    found = normalise_per_feature(features, torch.tensor([5, 9]))
    assert torch.equal(found[0, 5:], torch.zeros(4, 4))
    assert bool(found.isfinite().all())


def test_a_rows_only_frame_becomes_zero() -> None:
    found = normalise_per_feature(features_of([1, 3]), torch.tensor([1, 3]))
    assert torch.equal(found[0], torch.zeros(3, 4))


def test_a_row_without_frames_becomes_zero() -> None:
    found = normalise_per_feature(features_of([2, 3]), torch.tensor([0, 3]))
    assert torch.equal(found[0], torch.zeros(3, 4))


def test_a_bin_that_hardly_changes_is_hardly_amplified() -> None:
    """By the 1e-5 beside the deviation."""
    features = torch.tensor([[[0.0], [1e-5]]])
    found = normalise_per_feature(features, torch.tensor([2]))
    deviation = 1e-5 / 2**0.5
    expected = 0.5e-5 / (deviation + 1e-5)
    torch.testing.assert_close(found[0, 1, 0], torch.tensor(expected))
