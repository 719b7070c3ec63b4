"""Where a stream falls quiet, by the levels of its samples: a step may end there.

An encoder hears whole chunks, and what is said before a pause would wait for the rest of its own.
Levels are of whole feature frames, and what is made of them begins anew with each segment: where a
pause is does not depend on packets, on load, or on which engine hears the segment.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np

from earshot.streaming.samples import Samples

QUIET_MS = 240
"""A pause is known when it has lasted so long: the closure of a plosive is half of it."""
SMOOTHED = 3
"""Frames whose mean power is a level."""
LEAST_RANGE_DB, MOST_RANGE_DB = 15.0, 50.0
"""Between the quietest and the loudest: where it is less everything is speech, or nothing."""
QUIET_SHARE = 0.35
"""Of that range, which counts as quiet."""
RISE_DB_S, FALL_DB_S = 2.0, 4.0
"""How fast the quietest and the loudest are forgotten."""
SILENCE = 1e-9
"""The least mean power of samples in [-1, 1]: that of digital silence."""


@dataclass
class _Loudness:
    """A segment's levels so far, summed up. run: frames that have been quiet on end."""

    frame: int
    loudest: float = -math.inf
    quietest: float = math.inf
    run: int = 0
    pauses: list[int] = field(default_factory=list)
    voiced: list[int] = field(default_factory=list)


class PauseWatch:
    """Frames are those of the stream's track; it must be told of all samples from one on.

    frame_shift: samples. frame_ms: of one. first_sample: of the track, the first that it hears.
    """

    def __init__(self, frame_shift: int, frame_ms: float, first_sample: int = 0) -> None:
        self._shift, self._frame_s = frame_shift, frame_ms / 1000
        self._quiet_frames = math.ceil(QUIET_MS / frame_ms)
        self._first = -(-first_sample // frame_shift)
        self._skipped = self._first * frame_shift - first_sample
        self._rest = np.zeros(0, np.float32)
        self._powers: list[float] = []
        self._heard = _Loudness(self._first)

    def listen(self, samples: Samples) -> None:
        """Hear samples `(N,)` in [-1, 1]."""
        if self._skipped:
            skipped, samples = min(self._skipped, len(samples)), samples[self._skipped :]
            self._skipped -= skipped
        joined = np.concatenate((self._rest, samples)) if len(self._rest) else samples
        frames = len(joined) // self._shift
        whole = joined[: frames * self._shift].reshape(frames, self._shift)
        self._rest = joined[frames * self._shift :].copy()
        self._powers += np.einsum("fs,fs->f", whole, whole, dtype=np.float64).tolist()

    def restart(self, frame: int) -> None:
        """A segment begins at that frame; nothing before it counts."""
        gone = min(max(frame - self._first, 0), len(self._powers))
        del self._powers[:gone]
        self._first += gone
        self._heard = _Loudness(max(frame, self._first))

    def look(self, until: int) -> None:
        """Look at the frames before that one, as far as they are here.

        No further than somebody wants to know: who is far behind looks at none twice.
        """
        heard, powers = self._heard, self._powers
        rise, fall = RISE_DB_S * self._frame_s, FALL_DB_S * self._frame_s
        for place in range(heard.frame - self._first, min(until - self._first, len(powers))):
            around = powers[max(place - SMOOTHED + 1, 0) : place + 1]
            power = sum(around) / (len(around) * self._shift)
            level = 10 * math.log10(max(power, SILENCE))
            heard.loudest = max(level, heard.loudest - fall)
            heard.quietest = min(level, heard.quietest + rise)
            self._note(heard, level)

    def pause_after(self, frame: int) -> int | None:
        """The next frame behind that one before which a pause is known, of those looked at."""
        pauses = self._heard.pauses
        place = bisect_right(pauses, frame)
        return pauses[place] if place < len(pauses) else None

    def is_quiet(self, start: int, stop: int) -> bool:
        """Whether all frames from `start` to before `stop` have been looked at and are quiet."""
        voiced = self._heard.voiced
        place = bisect_right(voiced, start - 1)
        return stop <= self._heard.frame and (place == len(voiced) or voiced[place] >= stop)

    @property
    def soonest(self) -> int:
        """The first frame before which another pause can be known, when all were looked at."""
        heard = self._heard
        quiet = heard.run if heard.run < self._quiet_frames else 0
        return heard.frame + self._quiet_frames - quiet

    def _note(self, heard: _Loudness, level: float) -> None:
        spread = min(heard.loudest - heard.quietest, MOST_RANGE_DB)
        limit = heard.loudest - (1 - QUIET_SHARE) * spread
        if spread >= LEAST_RANGE_DB and level <= limit:
            heard.run += 1
        else:
            heard.run = 0
            heard.voiced.append(heard.frame)
        heard.frame += 1
        if heard.run == self._quiet_frames:
            heard.pauses.append(heard.frame)
