"""A stream's seat in a pool: its worker, and what its caller needs of it."""

from collections.abc import Callable
from dataclasses import dataclass

from earshot.streaming.engine.stream import Stream
from earshot.streaming.events import Event
from earshot.streaming.requests import Request
from earshot.streaming.stream.backlog import Backlog
from earshot.streaming.stream_config import StreamConfig, StreamPriority
from earshot.streaming.stream_name import StreamName
from earshot.streaming.workers.messages import OpenStream
from earshot.streaming.workers.worker_link import WorkerLink


@dataclass(frozen=True, eq=False)
class Seat:
    """A stream at a worker, under a number, at a place of its counters.

    sink: the caller's. The room for samples is counted here, so that a push need not be answered.
    """

    link: WorkerLink
    number: int
    place: int
    priority: StreamPriority
    name: StreamName
    backlog: Backlog
    sink: Callable[[Event], None]

    def open(self, config: StreamConfig) -> Stream:
        """Have the worker open the stream."""
        self.link.ask(OpenStream(self.number, self.place, config, self.priority, self.name))
        return Stream(self.backlog, self._ask, self.link.pid)

    def _ask(self, request: Request) -> None:
        self.link.ask((self.number, request))
