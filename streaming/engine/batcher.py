"""Which ready streams share the next step, and when it starts."""

from collections.abc import Hashable
from itertools import islice
from typing import Generic, TypeVar

from earshot.streaming.stream_config import StreamPriority

T = TypeVar("T", bound=Hashable)


class Batcher(Generic[T]):
    """A queue of ready streams with a policy, and no clock of its own.

    Live streams go first, longest waiting first. A step starts when it is full, when no other live
    stream could still join, when one of them is due, or when files want to run (then waiting would
    gain nothing). A stream is due `max_wait_s` after it became ready, or at once where someone
    waits for its final. Files fill the lanes left over, at most `max_file_lanes` while any live
    stream is open, so that a live stream that becomes ready during a step waits a short one.
    """

    def __init__(self, max_batch: int, max_file_lanes: int, max_wait_s: float) -> None:
        self._max_batch = max_batch
        self._max_file_lanes = max_file_lanes
        self._max_wait_s = max_wait_s
        # Since when each is ready: the longest waiting is the first, and the next that is due.
        self._ready: dict[StreamPriority, dict[T, float]] = {p: {} for p in StreamPriority}
        self._urgent: set[T] = set()

    def __len__(self) -> int:
        return sum(map(len, self._ready.values()))

    def add(self, stream: T, priority: StreamPriority, now_s: float, urgent: bool = False) -> None:
        """The stream is ready since `now_s`, no earlier than those before it.

        One that waits already keeps its place.
        """
        self._ready[priority].setdefault(stream, now_s)
        if urgent:
            self._urgent.add(stream)

    def discard(self, stream: T) -> None:
        """The stream is gone."""
        for queue in self._ready.values():
            queue.pop(stream, None)
        self._urgent.discard(stream)

    def wait_s(self, now_s: float, open_live: int) -> float | None:
        """How long to wait before `take`: 0 for not at all, None while nothing is ready."""
        live = self._ready[StreamPriority.LIVE]
        if self._ready[StreamPriority.FILE] or len(live) >= min(self._max_batch, max(open_live, 1)):
            return 0.0
        if self._urgent:
            return 0.0
        if not live:
            return None
        return max(next(iter(live.values())) + self._max_wait_s - now_s, 0.0)

    def take(self, open_live: int) -> list[tuple[T, float]]:
        """Remove and return the lanes of the next step, each with the time it became ready."""
        lanes = self._pop(StreamPriority.LIVE, self._max_batch)
        spare = self._max_batch - len(lanes)
        for_files = min(spare, self._max_file_lanes) if open_live else spare
        return lanes + self._pop(StreamPriority.FILE, for_files)

    def _pop(self, priority: StreamPriority, count: int) -> list[tuple[T, float]]:
        queue = self._ready[priority]
        first = list(islice(queue, count))  # in the order they became ready
        self._urgent.difference_update(first)
        return [(stream, queue.pop(stream)) for stream in first]
