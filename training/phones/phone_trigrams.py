"""How likely a phone is after two others, of the transcripts themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

BOUNDARY = 0  # before the first phone and after the last; the number of CTC's blank


def phone_trigrams(sentences: Iterable[Sequence[int]], count: int) -> npt.NDArray[np.float32]:
    """Probabilities `(i, j, k)` of phone k after i and j, out of `count` symbols.

    Symbol 0 is the sentence's boundary. Witten-Bell smoothing down to the uniform distribution
    (Witten and Bell 1991, method C), so that nothing is impossible.
    """
    counts = np.zeros((count, count, count))
    for sentence in sentences:
        padded = (BOUNDARY, BOUNDARY, *sentence, BOUNDARY)
        for (first, second), third in zip(pairwise(padded), padded[2:], strict=False):
            counts[first, second, third] += 1
    uniform = np.full(count, 1.0 / count)
    unigrams = _smoothed(counts.sum(axis=(0, 1)), uniform)
    bigrams = _smoothed(counts.sum(axis=0), unigrams)
    return _smoothed(counts, bigrams).astype(np.float32)


def _smoothed(
    counts: npt.NDArray[np.float64], lower: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Counts `(…, k)` and the distributions `(…, k)` of a shorter history, mixed."""
    seen = counts.sum(axis=-1, keepdims=True)
    kinds = np.maximum((counts > 0).sum(axis=-1, keepdims=True), 1)
    mixed: npt.NDArray[np.float64] = (counts + kinds * lower) / (seen + kinds)
    return mixed
