"""What an engine says of itself: a snapshot for gauges and counters, and a report of every step."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from earshot.streaming.results.search_counts import SearchCounts


@dataclass(frozen=True)
class StepReport:
    """One step of the engine.

    duration_s: from the first lane's features to the last result.
    queue_waits_s: for each lane, how long its window had been ready when the step began.
    encoder_s, search_s, second_pass_s, emit_s: parts of duration_s. Features count as encoder,
        times and confidences of words as emitting.
    """

    lanes: int
    endings: int
    duration_s: float
    queue_waits_s: tuple[float, ...]
    encoder_s: float
    search_s: float
    second_pass_s: float
    emit_s: float


Observer: TypeAlias = Callable[[StepReport], None]
"""Called on the engine thread after every step; it must not block."""


@dataclass(frozen=True)
class EngineStats:
    """A snapshot. Counters count from the engine's start.

    backlog_s: audio pushed and not decoded, all streams. search: what searches could not do.
    kept_slots: those that could not be emptied, so that nobody gets them. second_pass_failures:
        finals that are the first pass's because the second raised. open_lms: language models that
        streams hold by name, in each engine that has them open. late_engines: those that are
        watched and do not answer. worker_cpu_s: CPU time of processes besides this one.
    """

    running: bool
    max_streams: int
    live_streams: int
    file_streams: int
    backlog_s: float
    steps: int
    lanes: int
    audio_s: float
    partials: int
    finals: int
    failed_streams: int
    kept_slots: int
    second_pass_failures: int
    open_lms: int
    search: SearchCounts
    late_engines: int = 0
    worker_cpu_s: float = 0.0


@dataclass
class Counters:
    """What the engine thread counts, from the engine's start."""

    steps: int = 0
    lanes: int = 0
    audio_s: float = 0.0
    partials: int = 0
    finals: int = 0
    failed_streams: int = 0
    kept_slots: int = 0
    second_pass_failures: int = 0
    open_lms: int = 0
    search: SearchCounts = field(default_factory=SearchCounts)


class StepTimer:
    """Times one step's stages; each method marks the end of one."""

    def __init__(self, queue_waits_s: tuple[float, ...]) -> None:
        self._queue_waits_s = queue_waits_s
        self._marks = [time.perf_counter()]

    def mark(self) -> None:
        """A stage is over: encoder, search, second pass, publishing."""
        self._marks.append(time.perf_counter())

    def report(self, endings: int) -> StepReport:
        """The step is over."""
        started, encoded, searched, rescored, told = self._marks
        return StepReport(
            lanes=len(self._queue_waits_s),
            endings=endings,
            duration_s=told - started,
            queue_waits_s=self._queue_waits_s,
            encoder_s=encoded - started,
            search_s=searched - encoded,
            second_pass_s=rescored - searched,
            emit_s=told - rescored,
        )
