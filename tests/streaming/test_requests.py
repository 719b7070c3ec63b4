"""Audio of any length becomes requests that fit."""

import pickle

import numpy as np
import pytest

from earshot.streaming.requests import PUSH_SAMPLES, Push, pushes


@pytest.mark.parametrize("count", [0, 1, PUSH_SAMPLES, PUSH_SAMPLES + 1, 3 * PUSH_SAMPLES + 7])
def test_pushes_hold_all_samples_in_order_and_few_each(count):
    samples = np.arange(count, dtype=np.float32)
    pieces = [push.samples for push in pushes(samples)]
    assert np.array_equal(np.concatenate([samples[:0], *pieces]), samples)
    assert all(0 < len(piece) <= PUSH_SAMPLES for piece in pieces)


def test_a_push_that_goes_to_another_process_holds_the_same_samples():
    samples = np.linspace(-1, 1, 7, dtype=np.float32)[::2]
    copy = pickle.loads(pickle.dumps(Push(samples)))
    assert isinstance(copy, Push)
    assert copy.samples.dtype == np.float32
    assert np.array_equal(copy.samples, samples)
