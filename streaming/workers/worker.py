"""One engine in a process of its own, and the streams that a pool has opened on it."""

import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection

from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.engine_stats import StepReport
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine.stream_intake import StreamIntake
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import StreamingError
from earshot.streaming.events import Closed, Event, Failed
from earshot.streaming.requests import Cancel
from earshot.streaming.stream.sample_count import SampleCount
from earshot.streaming.workers.forked_process import Parent, leave_sockets
from earshot.streaming.workers.messages import OpenStream, Stop, ToWorker, Turn
from earshot.streaming.workers.outgoing import Outgoing
from earshot.streaming.workers.worker_memory import WorkerMemory

STOP_S = 5.0
LOOK_S = 0.1
"""How often to look whether the engine has ended by itself, or the pool's process."""


def run_worker(
    pipe: Connection,
    recognizer: Recognizer,
    config: EngineConfig,
    memory: WorkerMemory,
    pool: Parent,
) -> None:
    """The whole life of a worker's process; it ends when the pool says so, or is gone."""
    leave_sockets(kept=(pipe.fileno(),))
    pool.take_along()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # they are the pool's: what is live is to be finished
    _Worker(pipe, recognizer, config, memory).serve(pool)


class _Worker:
    def __init__(
        self, pipe: Connection, recognizer: Recognizer, config: EngineConfig, memory: WorkerMemory
    ) -> None:
        self._pipe = pipe
        self._outgoing = Outgoing(pipe, self._give_up)
        self._memory = memory
        self._opening = threading.Lock()
        self._streams: dict[int, StreamIntake] = {}
        self._emitted: list[tuple[int, Event]] = []
        self._step: StepReport | None = None
        self._engine = Engine(recognizer, config, self._stepped, memory.heartbeat, self._turned)

    def serve(self, pool: Parent) -> None:
        """Do what the pool asks for until it says stop, it is gone, or the engine has ended.

        The pipe says nothing of a pool that was killed where another child of it holds a copy.
        """
        self._engine.start()
        going = True
        with suppress(EOFError, OSError):
            while going and self._engine.running and not pool.gone:
                self._memory.heartbeat.turn()
                if self._pipe.poll(LOOK_S):
                    going = self._perform_all(self._pipe.recv())
        self._engine.stop(STOP_S)
        self._outgoing.close(STOP_S)

    def _perform_all(self, requests: Sequence[ToWorker]) -> bool:
        """In their order; False where one of them was to stop."""
        for request in requests:
            match request:
                case Stop():
                    return False
                case OpenStream():
                    self._open(request)
                case (number, asked):
                    if (intake := self._streams.get(number)) is not None:
                        with suppress(StreamingError):  # the engine stops, and says so
                            intake.take(asked)
            self._memory.heartbeat.took(1)
        return True

    def _open(self, request: OpenStream) -> None:
        number, decoded = request.number, SampleCount(self._memory.decoded, request.place)
        sink = partial(self._emit, number)
        try:
            with self._opening:  # its last event is not to come before it is known
                self._streams[number] = self._engine.admit(
                    request.config, sink, request.priority, request.name, decoded
                )
        except StreamingError as error:
            self._outgoing.put(Turn(((number, Failed(error)),)))

    def _give_up(self, number: int) -> None:
        """End a stream that has a result which cannot be sent."""
        if (intake := self._streams.get(number)) is not None:
            intake.take(Cancel())

    def _emit(self, number: int, event: Event) -> None:
        """Keep an event for the end of the turn; on the engine's thread, as all below."""
        if isinstance(event, Closed | Failed):
            with self._opening:
                del self._streams[number]
        self._emitted.append((number, event))

    def _stepped(self, report: StepReport) -> None:
        self._step = report

    def _turned(self) -> None:
        """Say all that came of a turn at once."""
        if not self._emitted and self._step is None:
            return
        self._memory.counters.write(self._engine.counters)
        turn = Turn(tuple(self._emitted), self._step)
        self._emitted, self._step = [], None
        self._outgoing.put(turn)
