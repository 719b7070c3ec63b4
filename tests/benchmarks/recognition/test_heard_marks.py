"""Texts as they are spoken for the page of heard marks."""

import numpy as np

from benchmarks.recognition.heard_marks import joined


def test_sentences_are_joined_by_pauses_that_stay_the_same() -> None:
    parts = [(np.ones(100, np.float32), 1000)] * 2
    samples, rate_hz = joined(parts)
    assert rate_hz == 1000
    assert samples.sum() == 200
    assert 200 + 3 * 300 <= len(samples) <= 200 + 3 * 900
    assert np.array_equal(samples, joined(parts)[0])
