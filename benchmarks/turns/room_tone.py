"""A recording that goes on: the noise of its own room behind it, for as long as asked.

Recordings are cut at their speech's end, and whatever is put behind them tells that they are over.
A room's tone is noise in the colour and at the level of the recording's quietest stretches.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.server.spoken_hour import RATE_HZ, Samples
from earshot.streaming.pauses.pause_watch import PauseWatch

SHIFT = RATE_HZ // 100
"""Samples of a frame whose level is taken."""

STRETCH = 512
"""Samples of a stretch whose spectrum is taken."""
QUIETEST = 0.05
"""Share of stretches that are called the room."""
LEAST_RMS = 1e-5


def in_its_room(samples: Samples, count: int, seed: int = 0) -> Samples:
    """A recording `(N,)`, and `count` samples of its room behind it.

    Pauses inside are the room's tone, too, from where they are known as such (`PauseWatch`):
    nothing but what was said and how tells them from ends.
    """
    tone = _tone(samples, len(samples) + count, seed)
    heard = samples.copy()
    for start, stop in _pauses(samples):
        heard[start:stop] = tone[start:stop]
    return np.concatenate([heard, tone[len(samples) :]])


def _pauses(samples: Samples) -> Iterator[tuple[int, int]]:
    """First samples of pauses from there on where they are known, and of what follows."""
    frames = len(samples) // SHIFT
    watch = PauseWatch(SHIFT, 1000 * SHIFT / RATE_HZ)
    watch.listen(samples)
    watch.look(frames)
    known = watch.pause_after(0)
    while known is not None:
        stop = known
        while watch.is_quiet(known, stop + 1):
            stop += 1
        yield known * SHIFT, stop * SHIFT
        known = watch.pause_after(stop)


def _tone(samples: Samples, count: int, seed: int) -> Samples:
    size = 1 << (count + STRETCH).bit_length()  # a power of two is fast
    drawn = np.random.default_rng(seed).normal(0.0, 1.0, size)
    toned = np.fft.irfft(np.fft.rfft(drawn) * np.fft.rfft(_response(samples), size), size)
    return toned[:count].astype(np.float32)  # all of it is round: no beginning, no end


def _response(samples: Samples) -> npt.NDArray[np.float64]:
    """The filter `(STRETCH,)` that makes white noise of power 1 sound like the room."""
    stretches = samples[: len(samples) // STRETCH * STRETCH].reshape(-1, STRETCH)
    powers = np.square(stretches).mean(axis=1)
    quiet = stretches[np.argsort(powers)[: max(round(QUIETEST * len(powers)), 1)]]
    window = np.hanning(STRETCH)
    spectrum = np.square(np.abs(np.fft.rfft(quiet * window, axis=1))).mean(axis=0)
    spectrum /= np.square(window).sum()
    shaped = np.fft.irfft(np.sqrt(np.maximum(spectrum, LEAST_RMS**2)), STRETCH)
    return np.roll(shaped, STRETCH // 2) * window
