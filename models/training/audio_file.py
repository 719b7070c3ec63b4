"""Recordings as samples."""

from __future__ import annotations

from pathlib import Path

import soundfile
import torch

from models.training.errors import CorpusError

INT16_SCALE = 32768.0


def read_samples(path: Path, sample_rate_hz: int) -> torch.Tensor:
    """Mono samples of an audio file `(N,)`, float32 in int16 range.

    Raises CorpusError if it cannot be read or is at another rate.
    """
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, soundfile.LibsndfileError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
    if rate != sample_rate_hz:
        raise CorpusError(f"{path} is at {rate} Hz, not {sample_rate_hz} Hz")
    return torch.from_numpy(samples.mean(axis=1) * INT16_SCALE)
