"""Streaming resampling to the rate that models listen at."""

import numpy as np
import soxr

from earshot.streaming.samples import Samples

MIN_RATE_HZ = 4_000
MAX_RATE_HZ = 192_000


class Resampler:
    """Brings mono audio of any rate to the model's, block by block, as if resampled whole."""

    def __init__(self, rate_hz: int, model_rate_hz: int) -> None:
        self._stream = (
            None
            if rate_hz == model_rate_hz
            else soxr.ResampleStream(rate_hz, model_rate_hz, num_channels=1, dtype="float32")
        )

    def resample(self, samples: Samples, last: bool = False) -> Samples:
        """Return what ``samples`` completes, ``(N',)``; ``last`` adds the filter's tail."""
        if self._stream is None:
            return samples
        # The filter overshoots on full-scale audio; models were trained on what int16 can hold.
        clipped: Samples = np.clip(self._stream.resample_chunk(samples, last=last), -1.0, 1.0)
        return clipped
