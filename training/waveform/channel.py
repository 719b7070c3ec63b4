"""Microphones and lines: what they do to a spectrum, as short impulse responses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from earshot.training.data.augment import LOG_POWER_PER_DB, mel_centres_hz, random_colour

TAPS = 512
DELAY = TAPS // 2  # samples by which the responses are late
COLOUR_BINS = 80
SLOPE_DB_PER_HZ = 0.2  # above a band limit
DEEPEST_DB = -70.0
CENTRES_HZ = mel_centres_hz(COLOUR_BINS)
WINDOW = np.hanning(TAPS + 1)[:TAPS]


def channel_response(
    rng: np.random.Generator, strength_db: float, cutoff_hz: float | None, sample_rate_hz: int
) -> npt.NDArray[np.float32]:
    """An impulse response `(TAPS,)` of random smooth colour that ends the band at `cutoff_hz`."""
    frequency_hz = np.fft.rfftfreq(TAPS, 1 / sample_rate_hz)
    colour = random_colour(rng, COLOUR_BINS, strength_db) / LOG_POWER_PER_DB
    gain_db = np.interp(frequency_hz, CENTRES_HZ, colour)
    if cutoff_hz is not None:
        above = np.clip(frequency_hz - cutoff_hz, 0.0, None)
        gain_db = gain_db + np.maximum(-SLOPE_DB_PER_HZ * above, DEEPEST_DB)
    response = np.fft.irfft(10 ** (gain_db / 20), n=TAPS)
    return np.asarray(np.roll(response, DELAY) * WINDOW, dtype=np.float32)
