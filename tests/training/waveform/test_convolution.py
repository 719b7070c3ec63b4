"""Convolution by transforms against the sum that it stands for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from earshot.training.waveform.convolution import TRANSFORM_STEP, convolve


@pytest.mark.parametrize(
    ("samples", "taps", "delay"),
    [(1, 1, 0), (50, 7, 3), (7, 50, 0), (TRANSFORM_STEP, 2, 1), (100, 8, 200)],
)
def test_every_row_goes_through_its_own_response(samples: int, taps: int, delay: int) -> None:
    rng = np.random.default_rng(samples)
    waves, responses = rng.normal(size=(3, samples)), rng.normal(size=(3, taps))
    found = convolve(torch.from_numpy(waves), torch.from_numpy(responses), delay)
    for row, wave, response in zip(found.numpy(), waves, responses, strict=True):
        direct = np.pad(np.convolve(wave, response), (0, delay + samples))
        np.testing.assert_allclose(row, direct[delay : delay + samples], atol=1e-9)
