"""Stopping a long run politely."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignal:
    """Notes SIGTERM and SIGINT instead of dying of them, as a context manager."""

    def __init__(self) -> None:
        self.received = False
        self._before: list[Any] = []

    def __enter__(self) -> StopSignal:
        self._before = [signal.signal(number, self._note) for number in SIGNALS]
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in zip(SIGNALS, self._before, strict=True):
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.received = True
