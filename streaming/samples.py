"""Audio as streams take it, and the check of it."""

import numpy as np
from numpy.typing import NDArray

from earshot.streaming.errors import InvalidAudio

Samples = NDArray[np.float32]
"""Mono samples `(N,)` in [-1, 1]."""

MAX_AMPLITUDE = 4.0
"""Full scale is 1; resamplers overshoot it a little, samples in int16 range by far."""


def check_audio(samples: Samples) -> None:
    """Raises InvalidAudio unless the samples are `(N,)`, float32, finite and near [-1, 1]."""
    if samples.dtype != np.float32 or samples.ndim != 1:
        raise InvalidAudio("samples must be a one-dimensional float32 array")
    if not len(samples):
        return
    peak = np.maximum.reduce(np.abs(samples))  # the method max() takes half as long again
    if not peak <= MAX_AMPLITUDE:
        raise InvalidAudio(f"a sample of {peak:g} is not audio in [-1, 1]")
