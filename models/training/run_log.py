"""The log of a run: one JSON object a line, ready to plot."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class UpdateRecord:
    """What one update was like; losses in nats, audio in seconds."""

    loss: float
    ctc_per_token: float
    gradient_norm: float
    audio_seconds: float


class RunLog:
    """Writes the mean of every few updates, and whatever else it is given."""

    def __init__(self, path: Path, every: int) -> None:
        self._path = path
        self._every = every
        self._window: list[UpdateRecord] = []
        self._started = time.monotonic()

    def update(self, record: UpdateRecord, place: dict[str, float], rate: float) -> None:
        """Notes an update; `place` says where in the run it was."""
        self._window.append(record)
        if len(self._window) < self._every:
            return
        seconds = time.monotonic() - self._started
        heard = sum(entry.audio_seconds for entry in self._window)
        means = {
            name: round(float(np.mean([getattr(entry, name) for entry in self._window])), 4)
            for name in ("loss", "ctc_per_token", "gradient_norm")
        }
        self.write(place, **means, rate=round(rate, 8), audio_per_second=round(heard / seconds, 1))
        self.restart_clock()

    def restart_clock(self) -> None:
        """Starts a new window, so that what was done in between does not count as training."""
        self._window = []
        self._started = time.monotonic()

    def write(self, place: dict[str, float], **values: float) -> None:
        """Appends one line."""
        append_line(self._path, **place, **values)


def append_line(path: Path, **values: float) -> None:
    """Appends a JSON object with the time."""
    row = {"time": round(time.time()), **values}
    with path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(row) + "\n")
