"""A caller's handle on a stream that a worker decodes."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from earshot.streaming.engine.stream import check_push
from earshot.streaming.errors import BacklogFull, StreamClosed
from earshot.streaming.events import Closed, Configured, Event, Failed, Final, NotConfigured
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.stream.features import Samples
from earshot.streaming.stream.inbox import MAX_REQUESTS
from earshot.streaming.stream_config import Boost, StreamConfig, StreamPriority
from earshot.streaming.weights import Weights
from earshot.streaming.workers.messages import (
    AwaitRoom,
    Cancel,
    Finalize,
    Finish,
    OpenStream,
    PushSamples,
    Reconfigure,
)
from earshot.streaming.workers.worker_link import WorkerLink


@dataclass(frozen=True)
class Seat:
    """Where a stream is: at which worker, under which number, at which place of its counters."""

    link: WorkerLink
    number: int
    place: int


class RemoteStream:
    """See `Stream`. The room for samples is counted here, so that a push need not be answered."""

    def __init__(
        self,
        seat: Seat,
        priority: StreamPriority,
        sink: Callable[[Event], None],
        max_backlog: int,
        rate: int,
    ) -> None:
        self.seat = seat
        self.priority = priority
        self._sink = sink
        self._max_backlog = max_backlog
        self._rate = rate
        self._lock = threading.Lock()
        self._pushed = 0
        self._unanswered = 0
        self._closed = False

    def open(self, config: StreamConfig) -> None:
        """Have the worker open it."""
        seat = self.seat
        seat.link.decoded[seat.place] = 0
        seat.link.ask(OpenStream(seat.number, seat.place, config, self.priority))

    @property
    def backlog_s(self) -> float:
        """Seconds of audio pushed and not decoded."""
        return (self._pushed - self._decoded) / self._rate

    @property
    def room_s(self) -> float:
        """Seconds of audio that can be pushed now."""
        return self._room / self._rate

    @property
    def decoded_s(self) -> float:
        """Seconds of audio decoded so far."""
        return self._decoded / self._rate

    def push(self, samples: Samples) -> None:
        """See `Stream.push`."""
        check_push(samples, self._max_backlog, self._rate)
        with self._lock:
            self._require_open()
            if len(samples) > self._room:
                self._refuse(f"{len(samples)} samples pushed where {self._room} have room")
            if len(samples):
                self._pushed += len(samples)
                self.seat.link.ask(PushSamples(self.seat.number, np.array(samples)))

    def finalize(self) -> None:
        """See `Stream.finalize`."""
        self._request(Finalize(self.seat.number))

    def configure(
        self,
        boosts: Sequence[Boost],
        graph: GraphOptions | None = None,
        weights: Weights | None = None,
    ) -> None:
        """See `Stream.configure`."""
        self._request(Reconfigure(self.seat.number, tuple(boosts), graph, weights))

    def finish(self) -> None:
        """See `Stream.finish`."""
        with self._lock:
            self._require_open()
            self._closed = True
            self.seat.link.ask(Finish(self.seat.number))

    def cancel(self) -> None:
        """See `Stream.cancel`."""
        with self._lock:
            self._closed = True
            self.seat.link.ask(Cancel(self.seat.number))

    def receive(self, event: Event) -> None:
        """Pass an event of the worker's on to the caller."""
        with self._lock:
            if isinstance(event, Closed | Failed):
                self._closed = True
            elif isinstance(event, Configured | NotConfigured) or _ends_flush(event):
                self._unanswered -= 1
        self._sink(event)

    @property
    def _decoded(self) -> int:
        return int(self.seat.link.decoded[self.seat.place])

    @property
    def _room(self) -> int:
        return max(self._max_backlog - (self._pushed - self._decoded), 0)

    def _request(self, request: Finalize | Reconfigure) -> None:
        with self._lock:
            self._require_open()
            if self._unanswered >= MAX_REQUESTS:
                self._refuse(f"{self._unanswered} requests wait already")
            self._unanswered += 1
            self.seat.link.ask(request)

    def _refuse(self, reason: str) -> None:
        self.seat.link.ask(AwaitRoom(self.seat.number))
        raise BacklogFull(reason)

    def _require_open(self) -> None:
        if self._closed:
            raise StreamClosed("the stream was finished, cancelled, or has failed")


def _ends_flush(event: Event) -> bool:
    return isinstance(event, Final) and event.from_finalize
