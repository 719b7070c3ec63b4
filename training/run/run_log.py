"""The log of a run: one JSON object a line, ready to plot."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class UpdateRecord:
    """What one update was like; losses by name, audio in seconds.

    The gradient's norm is no number where the update was skipped.
    """

    losses: Mapping[str, float]
    gradient_norm: float
    audio_seconds: float

    @property
    def taken(self) -> bool:
        """Whether it changed the weights."""
        return math.isfinite(self.gradient_norm)


class RunLog:
    """Writes the mean of every few updates, and whatever else it is given.

    Means are of updates that were taken; how many were skipped stands beside them.
    """

    def __init__(self, path: Path, every: int) -> None:
        self._path = path
        self._every = every
        self._window: list[UpdateRecord] = []
        self._started = time.monotonic()
        self._cpu_started = time.process_time()

    def update(self, record: UpdateRecord, place: dict[str, float], rate: float) -> None:
        """Notes an update; `place` says where in the run it was."""
        self._window.append(record)
        if len(self._window) < self._every:
            return
        seconds = time.monotonic() - self._started
        cpu_seconds = time.process_time() - self._cpu_started
        heard = sum(entry.audio_seconds for entry in self._window)
        self.write(
            place,
            **self._means(),
            skipped=sum(not entry.taken for entry in self._window),
            rate=round(rate, 8),
            audio_per_second=round(heard / seconds, 1),
            audio_per_cpu_second=round(heard / cpu_seconds, 1),
        )
        self.restart_clock()

    def _means(self) -> dict[str, float]:
        taken = [entry for entry in self._window if entry.taken]
        values = [{**entry.losses, "gradient_norm": entry.gradient_norm} for entry in taken]
        names = values[0] if values else ()
        return {name: round(float(np.mean([each[name] for each in values])), 4) for name in names}

    def restart_clock(self) -> None:
        """Starts a new window, so that what was done in between does not count as training."""
        self._window = []
        self._started = time.monotonic()
        self._cpu_started = time.process_time()

    def write(self, place: dict[str, float], **values: float) -> None:
        """Appends one line."""
        append_line(self._path, **place, **values)


def append_line(path: Path, **values: float) -> None:
    """Appends a JSON object with the time. Values are finite: JSON has no others."""
    row = {"time": round(time.time()), **values}
    with path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(row, allow_nan=False) + "\n")


def cut_log(path: Path, step: int) -> None:
    """Leaves out what a log says of updates after `step`, and a line that was cut itself.

    So a run that was killed, and goes on where it was last saved, says nothing twice.
    """
    if not path.is_file():
        return
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    kept = [line for line in lines if _step_of(line) <= step]
    if len(kept) < len(lines):
        partial = path.with_name(path.name + ".partial")
        partial.write_text("".join(kept), encoding="utf-8")
        partial.replace(path)


def _step_of(line: str) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, TypeError, LookupError):
        return math.inf
