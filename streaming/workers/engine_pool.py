"""Several engines, one for each core, behind the face of one.

Python runs on one core of a process: what an engine does between two calls of the model and the
kernels would keep a second thread of it waiting. So each engine has a process of its own. A stream
stays where it was opened, with whoever had the fewest; its results are the same anywhere.
"""

import gc
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from itertools import count
from time import monotonic
from typing import Any

from earshot.streaming.engine.engine_stats import Counters, EngineStats, Observer, StepReport
from earshot.streaming.engine.isolation import attempt
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine.stream import Stream
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import EngineFull, EngineStopped
from earshot.streaming.events import Closed, Event, Failed
from earshot.streaming.language_models.lm_description import LmDescription
from earshot.streaming.language_models.open_lms import OpenLms
from earshot.streaming.stream.backlog import Backlog
from earshot.streaming.stream.sample_count import SampleCount
from earshot.streaming.stream_config import StreamConfig, StreamPriority
from earshot.streaming.stream_name import NAMELESS, StreamName
from earshot.streaming.workers.heartbeat import Signs
from earshot.streaming.workers.messages import Stop
from earshot.streaming.workers.pool_watch import PoolWatch
from earshot.streaming.workers.seat import Seat
from earshot.streaming.workers.worker_link import WorkerLink

log = logging.getLogger(__name__)


class _Worker:
    """A link, and who sits where."""

    def __init__(self, link: WorkerLink, places: int) -> None:
        self.link = link
        self.turn = -1
        self.free = list(reversed(range(places)))
        self.seats: dict[int, Seat] = {}
        self.kill = link.kill

    @property
    def name(self) -> str:
        """See `Watched`."""
        return self.link.name

    @property
    def signs(self) -> Signs:
        """See `Watched`."""
        return self.link.signs

    @property
    def work_waits(self) -> bool:
        """See `Watched`."""
        waiting_s = (seat.backlog.waiting_s for seat in list(self.seats.values()))
        return self.link.has_untaken or any(each_s > 0 for each_s in waiting_s)


class EnginePool:
    """See `Engine`. The processes are forked here: from one without threads, if it can be.

    recognizer: one without any stream; each worker has its own copy, and what it does not write to
    is in memory once. config: of each engine. max_streams: of all together.
    """

    def __init__(
        self,
        recognizer: Recognizer,
        config: EngineConfig,
        workers: int,
        max_streams: int,
        observer: Observer | None = None,
    ) -> None:
        gc.freeze()  # else the first collection in each worker would copy what is shared
        links = [WorkerLink(recognizer, config, f"engine-{i}") for i in range(workers)]
        gc.unfreeze()
        self._max_streams = max_streams
        self._max_backlog = recognizer.settings.backlog_samples(config.max_backlog_s)
        self._observer = observer
        self._lock = threading.Lock()
        self._numbers, self._turns = count(), count()
        self._stopping = False
        self._workers = tuple(_Worker(link, config.max_streams) for link in links)
        self._watch = PoolWatch(self._workers)
        self.model, self.rules = recognizer.model, recognizer.rules
        self._lms = OpenLms.of(
            config.lm_dir, recognizer.graph, config.graph_search, recognizer.device
        )
        self.sample_rate_hz = recognizer.settings.sample_rate_hz

    def start(self) -> None:
        """Listen to the workers, and watch them; once."""
        for worker in self._workers:
            worker.link.start(
                partial(self._emitted, worker), self._stepped, partial(self._gone, worker)
            )
        self._watch.start()

    def stop(self, timeout_s: float) -> bool:
        """End the processes after their current steps, all within the time; see `Engine.stop`."""
        self._stopping = True
        self._watch.stop()
        for worker in self._workers:
            worker.link.ask(Stop())
        until = monotonic() + timeout_s
        ended = [worker.link.stop(max(until - monotonic(), 0.0)) for worker in self._workers]
        return all(ended)

    @property
    def running(self) -> bool:
        """Whether all engines decode; one that has ended is not started anew."""
        return not self._stopping and all(worker.link.alive for worker in self._workers)

    @property
    def ready(self) -> bool:
        """Whether all engines decode, and none is late (`HangWatch`)."""
        return self.running and not self._watch.late

    def can_open(self) -> bool:
        """See `Engine.can_open`."""
        return self.ready and self._open_streams < self._max_streams

    def open(
        self,
        config: StreamConfig,
        sink: Callable[[Event], None],
        priority: StreamPriority = StreamPriority.LIVE,
        name: StreamName = NAMELESS,
    ) -> Stream:
        """See `Engine.open`. `sink` is called on a thread of the pool's."""
        if not self.running:
            raise EngineStopped("the engine is not running")
        if not self.ready:
            raise EngineStopped("an engine does not answer")
        self.rules.choose_search(config)
        self._lms.check(config.graph.lm)
        with self._lock:
            worker = self._idlest()
            link, number, place = worker.link, next(self._numbers), worker.free.pop()
            decoded = SampleCount(link.memory.decoded, place)
            backlog = Backlog(self._max_backlog, self.sample_rate_hz, decoded)
            seat = Seat(link, number, place, priority, name, backlog, sink)
            worker.seats[number] = seat
        return seat.open(config)

    def language_models(self) -> list[LmDescription]:
        """See `Engine.language_models`."""
        return self._lms.descriptions()

    @property
    def stats(self) -> EngineStats:
        """Of all engines, each as it stood after its last step."""
        seats = self._seats
        live = sum(seat.priority is StreamPriority.LIVE for seat in seats)
        return EngineStats(
            running=self.running,
            max_streams=self._max_streams,
            live_streams=live,
            file_streams=len(seats) - live,
            backlog_s=sum(seat.backlog.waiting_s for seat in seats),
            late_engines=self._watch.late,
            worker_cpu_s=sum(worker.link.cpu_s for worker in self._workers),
            **_sums([worker.link.memory.counters.read() for worker in self._workers]),
        )

    @property
    def _seats(self) -> list[Seat]:
        with self._lock:
            return [seat for worker in self._workers for seat in worker.seats.values()]

    @property
    def _open_streams(self) -> int:
        return sum(len(worker.seats) for worker in self._workers)

    def _idlest(self) -> _Worker:
        """Of several, whose turn is longest ago. Raises EngineFull."""
        if self._open_streams >= self._max_streams:
            raise EngineFull(f"all {self._max_streams} slots are taken")
        worker = min(self._workers, key=lambda each: (len(each.seats), each.turn))
        worker.turn = next(self._turns)
        return worker

    def _emitted(self, worker: _Worker, number: int, event: Event) -> None:
        seat = worker.seats.get(number)
        if seat is None:
            return
        seat.backlog.note(event)
        if isinstance(event, Closed | Failed):
            self._release(worker, seat)
        attempt(partial(seat.sink, event), "the sink of a stream's event", seat.name)

    def _release(self, worker: _Worker, seat: Seat) -> None:
        with self._lock:
            if worker.seats.pop(seat.number, None) is not None:
                worker.free.append(seat.place)

    def _stepped(self, report: StepReport) -> None:
        if self._observer is not None:
            attempt(partial(self._observer, report), "the engine's observer")

    def _gone(self, worker: _Worker) -> None:
        """A process has ended: so have its streams."""
        if not self._stopping:
            log.critical("%s has ended: %s", worker.name, worker.link.ending)
        for number in list(worker.seats):
            self._emitted(worker, number, Failed(EngineStopped("the engine was stopped")))


def _sums(said: Sequence[Counters]) -> dict[str, Any]:
    """What engines have counted, added up."""
    nothing = Counters()
    return {
        field.name: sum((getattr(each, field.name) for each in said), getattr(nothing, field.name))
        for field in fields(Counters)
    }
