"""Texts as they are spoken for the page of heard marks."""

import numpy as np

from benchmarks.recognition.heard_marks import with_silences


def test_sentences_have_silences_around_them_that_stay_the_same() -> None:
    parts = [np.ones(100, np.float32)] * 2
    samples = with_silences(parts)
    assert samples.sum() == 200
    assert samples[0] == samples[-1] == 0
    assert 200 + 3 * 4800 <= len(samples) <= 200 + 3 * 14_400
    assert np.array_equal(samples, with_silences(parts))
