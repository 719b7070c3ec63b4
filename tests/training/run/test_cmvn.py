"""Global statistics of features."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from earshot.training.errors import CorpusError
from earshot.training.run.cmvn import compute_cmvn


def test_normalised_features_have_mean_zero_and_variance_one() -> None:
    rng = np.random.default_rng(2)
    parts = [rng.normal(12.0, 3.0, size=(length, 80)).astype(np.float32) for length in (50, 7, 300)]
    mean, istd = compute_cmvn(parts)
    normalised = (torch.from_numpy(np.concatenate(parts)) - mean) * istd
    torch.testing.assert_close(normalised.mean(dim=0), torch.zeros(80), atol=1e-4, rtol=0)
    torch.testing.assert_close(
        normalised.std(dim=0, correction=0), torch.ones(80), atol=1e-4, rtol=0
    )


def test_a_constant_bin_stays_finite() -> None:
    _, istd = compute_cmvn([np.ones((10, 80), dtype=np.float32)])
    assert torch.isfinite(istd).all()


def test_no_frames_are_an_error() -> None:
    with pytest.raises(CorpusError, match="no frames"):
        compute_cmvn([])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_an_error(value: float) -> None:
    features = np.ones((10, 80), dtype=np.float32)
    features[3, 7] = value
    with pytest.raises(CorpusError, match="no finite numbers"):
        compute_cmvn([features])
