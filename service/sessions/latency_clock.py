"""Measures how long after its audio a result leaves, for the metrics and a session's last line."""

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable

from earshot.service.core.metrics import Metrics
from earshot.streaming.events import Final, Partial
from earshot.streaming.requests import Flush, Push, Request

MAX_MARKS = 2048
"""Messages whose arrival is known: 40 s of the smallest usual ones; older ones no longer matter."""

LATE_S = 1.0
"""A final is late that takes longer than this, beyond the pause that ends its utterance."""


class LatencyClock:
    """The clock of one stream: when did the audio that a result covers arrive?

    finals, late_finals: results so far. worst_lag_s: of partials and finals, the latter without the
    pause that ended them.
    """

    def __init__(
        self,
        metrics: Metrics,
        rate_hz: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.finals = 0
        self.late_finals = 0
        self.worst_lag_s = 0.0
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
        """Observe the latency of a partial or a final."""
        if isinstance(event, Partial):
            self._partial(event)
        else:
            self._final(event)

    def _partial(self, event: Partial) -> None:
        """Observe the lag since the last audio that the partial covers had arrived."""
        arrived_at = self._arrival(event.start_s + event.duration_s)
        if arrived_at is not None:
            lag_s = self._now() - arrived_at
            self._metrics.partial_latency_s.observe(lag_s)
            self.worst_lag_s = max(self.worst_lag_s, lag_s)

    def _final(self, event: Final) -> None:
        self.finals += 1
        if event.cause in ("finalize", "end"):
            self._asked_final()
        elif event.cause == "endpoint":
            self._final_by_endpoint(event)

    def _asked_final(self) -> None:
        """Observe the lag since the request for the final."""
        if self._asked_at is not None:
            lag_s = self._now() - self._asked_at
            self._asked_at = None
            self._metrics.final_latency_s.labels("request").observe(lag_s)
            self._note_final(lag_s)

    def _final_by_endpoint(self, event: Final) -> None:
        """Observe the wait since the last word's end had arrived: what a speaker feels."""
        words = event.alternatives[0].words if event.alternatives else ()
        spoken_at = self._arrival(words[-1].end_s) if words else None
        if spoken_at is not None:
            felt_s = self._now() - spoken_at
            self._metrics.final_latency_s.labels("endpoint").observe(felt_s)
            self._note_final(felt_s - event.pause_s)

    def _note_final(self, lag_s: float) -> None:
        self.late_finals += lag_s > LATE_S
        self.worst_lag_s = max(self.worst_lag_s, lag_s)

    def _arrival(self, end_s: float) -> float | None:
        """When the audio before a moment of the stream had arrived."""
        if not self._marks:
            return None
        index = bisect_left(self._marks, end_s, key=lambda mark: mark[0])
        return self._marks[min(index, len(self._marks) - 1)][1]
