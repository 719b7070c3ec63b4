"""What golden tests allow for rounding hides no mistake of a network."""

import copy

import pytest
import torch


def wrong_eps(encoder):
    """The smallest mistake: one norm as the oldest models have it."""
    encoder.after_norm.eps = 1e-12


def swapped_rows(encoder):
    weight = encoder.layers[0].feed_forward.w_1.weight
    weight[[0, 1]] = weight[[1, 0]]


def shifted_statistics(encoder):
    encoder.global_cmvn.mean[0] += 1e-3


@pytest.mark.parametrize("mistake", [wrong_eps, swapped_rows, shifted_statistics])
@torch.no_grad()
def test_a_mistake_is_more_than_rounding(golden, assert_same, mistake):
    encoder, features = copy.deepcopy(golden.model.encoder), golden.features["A"]
    lengths = torch.tensor([features.size(1)])
    assert_same(encoder(features, lengths)[0], golden.arrays["full_A"])
    mistake(encoder)
    with pytest.raises(AssertionError, match="apart, of values up to"):
        assert_same(encoder(features, lengths)[0], golden.arrays["full_A"])
