"""Recordings as samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
import torch

from earshot.training.errors import CorpusError

INT16_SCALE = 32768.0


def read_samples(path: Path, sample_rate_hz: int) -> torch.Tensor:
    """Mono samples of an audio file `(N,)`, float32 in int16 range.

    Raises CorpusError if it cannot be read, is empty, at another rate, or holds what is no number.
    """
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, soundfile.LibsndfileError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
    if rate != sample_rate_hz:
        raise CorpusError(f"{path} is at {rate} Hz, not {sample_rate_hz} Hz")
    if not len(samples):
        raise CorpusError(f"{path} is empty")
    wave = samples.mean(axis=1) * INT16_SCALE
    if not np.isfinite(wave).all():
        raise CorpusError(f"{path} holds samples that are no finite numbers")
    return torch.from_numpy(wave)
