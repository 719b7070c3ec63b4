"""A caller's handle on one stream. Every method may be called from any thread."""

from collections.abc import Callable, Sequence

import numpy as np

from earshot.streaming.errors import BacklogFull
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.requests import (
    FINALIZE,
    FINISH,
    AwaitRoom,
    Cancel,
    Configure,
    Push,
    Request,
)
from earshot.streaming.samples import Samples
from earshot.streaming.stream.backlog import Backlog
from earshot.streaming.stream_config import Boost
from earshot.streaming.weights import Weights


class Stream:
    """Push samples, then `finish` or `cancel`; results arrive at the sink given to `Engine.open`.

    What is pushed before `finalize`, `configure` or `finish` is decoded before them. A file is fed
    like this: push pieces until `BacklogFull`, wait for the event `RoomAvailable`, push that piece
    again. engine_pid: the process that decodes it.
    """

    def __init__(
        self, backlog: Backlog, take: Callable[[Request], None], engine_pid: int | None
    ) -> None:
        """take: what becomes of requests that were let in."""
        self._backlog = backlog
        self._take = take
        self.engine_pid = engine_pid

    @property
    def backlog_s(self) -> float:
        """Seconds of audio pushed and not decoded."""
        return self._backlog.waiting_s

    @property
    def room_s(self) -> float:
        """Seconds of audio that can be pushed now."""
        return self._backlog.room_s

    @property
    def decoded_s(self) -> float:
        """Seconds of audio decoded so far: the progress of a file."""
        return self._backlog.decoded_s

    def ask(self, request: Request) -> None:
        """Ask for something; it is done after all that was asked for before, but for `Cancel`.

        Raises InvalidAudio (no samples, or more than half of the backlog at once), StreamClosed,
        EngineStopped, and BacklogFull: nothing was asked, and a `RoomAvailable` event follows. A
        `Flush` that is the last always has room; `Cancel` may be repeated.
        """
        with self._backlog.lock:
            try:
                asks = self._backlog.admit(request)
            except BacklogFull:
                self._take(AwaitRoom())
                raise
            if asks:
                self._take(request)

    def push(self, samples: Samples) -> None:
        """Append samples `(N,)`, float32, mono in [-1, 1]; they are copied. None change nothing."""
        self.ask(Push(np.array(samples)))

    def finalize(self) -> None:
        """Decode everything pushed so far to its end; a `Final(from_finalize)` follows, always.

        What is pushed afterwards starts afresh, as after a pause.
        """
        self.ask(FINALIZE)

    def configure(
        self,
        boosts: Sequence[Boost],
        graph: GraphOptions | None = None,
        weights: Weights | None = None,
    ) -> None:
        """See `Configure`."""
        self.ask(Configure(tuple(boosts), graph, weights))

    def finish(self) -> None:
        """No more audio: a last `Final` and `Closed` follow."""
        self.ask(FINISH)

    def cancel(self) -> None:
        """End the stream without its last results; only `Closed` follows. Idempotent."""
        self.ask(Cancel())
