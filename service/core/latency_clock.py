"""Measures how long after its audio a result leaves, for the metrics."""

import time
from collections import deque
from collections.abc import Callable

from earshot.service.core.metrics import Metrics
from earshot.streaming.events import Final, Partial
from earshot.streaming.requests import Flush, Push, Request

MAX_MARKS = 2048  # about 40 s of the smallest usual messages; older ones no longer matter


class LatencyClock:
    """One session's clock: when did the audio that a result covers arrive?"""

    def __init__(
        self, metrics: Metrics, rate_hz: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._metrics = metrics
        self._rate_hz = rate_hz
        self._now = now
        self._arrived_s = 0.0
        self._marks: deque[tuple[float, float]] = deque(maxlen=MAX_MARKS)
        self._asked_at: float | None = None

    @property
    def audio_s(self) -> float:
        """Seconds of audio that arrived."""
        return self._arrived_s

    def asked(self, request: Request) -> None:
        """Note audio, at the model's rate, that is decodable from now on, or that it is to end."""
        match request:
            case Push(samples):
                self._arrived_s += len(samples) / self._rate_hz
                self._marks.append((self._arrived_s, self._now()))
            case Flush():
                self._asked_at = self._now()

    def result(self, event: Partial | Final) -> None:
        """Observe the latency of a partial, and of a final that was asked for."""
        arrived_at = self._arrival(event.start_s + event.duration_s)
        if isinstance(event, Partial):
            if arrived_at is not None:
                self._metrics.partial_latency_s.observe(self._now() - arrived_at)
        elif event.cause in ("finalize", "end") and self._asked_at is not None:
            self._metrics.final_latency_s.observe(self._now() - self._asked_at)
            self._asked_at = None

    def _arrival(self, end_s: float) -> float | None:
        while len(self._marks) > 1 and self._marks[0][0] < end_s:
            self._marks.popleft()
        return self._marks[0][1] if self._marks else None
