"""Audio of any length becomes requests that fit."""

import numpy as np
import pytest

from earshot.streaming.requests import PUSH_SAMPLES, pushes


@pytest.mark.parametrize("count", [0, 1, PUSH_SAMPLES, PUSH_SAMPLES + 1, 3 * PUSH_SAMPLES + 7])
def test_pushes_hold_all_samples_in_order_and_few_each(count):
    samples = np.arange(count, dtype=np.float32)
    pieces = [push.samples for push in pushes(samples)]
    assert np.array_equal(np.concatenate([samples[:0], *pieces]), samples)
    assert all(0 < len(piece) <= PUSH_SAMPLES for piece in pieces)
