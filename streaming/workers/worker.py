"""One engine in a process of its own, and the streams that a pool has opened on it."""

import signal
import threading
from collections.abc import MutableSequence, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import assert_never

from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.engine_stats import StepReport
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine.stream import Stream
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import StreamingError
from earshot.streaming.events import Closed, Event, Failed
from earshot.streaming.workers.forked_process import Parent, leave_sockets
from earshot.streaming.workers.heartbeat import Heartbeat
from earshot.streaming.workers.messages import (
    AwaitRoom,
    Cancel,
    Emitted,
    Finalize,
    Finish,
    OpenStream,
    PushSamples,
    Reconfigure,
    Reply,
    Request,
    Stepped,
    Stop,
    StreamRequest,
)

STOP_S = 5.0
LOOK_S = 0.1
"""How often to look whether the engine has ended by itself, or the pool's process."""


def run_worker(
    pipe: Connection,
    recognizer: Recognizer,
    config: EngineConfig,
    decoded: MutableSequence[int],
    heartbeat: Heartbeat,
    pool: Parent,
) -> None:
    """The whole life of a worker's process; it ends when the pool says so, or is gone.

    decoded: shared with the pool: for each place how many samples of its stream are decoded. So
    is the heartbeat.
    """
    leave_sockets(kept=(pipe.fileno(),))
    pool.take_along()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # they are the pool's: what is live is to be finished
    _Worker(pipe, recognizer, config, decoded, heartbeat).serve(pool)


class _Worker:
    def __init__(
        self,
        pipe: Connection,
        recognizer: Recognizer,
        config: EngineConfig,
        decoded: MutableSequence[int],
        heartbeat: Heartbeat,
    ) -> None:
        self._pipe = pipe
        self._sending = threading.Lock()
        self._decoded = decoded
        self._heartbeat = heartbeat
        self._opening = threading.Lock()
        self._streams: dict[int, tuple[int, Stream]] = {}
        self._engine = Engine(recognizer, config, self._stepped, heartbeat)

    def serve(self, pool: Parent) -> None:
        """Do what the pool asks for until it says stop, it is gone, or the engine has ended.

        The pipe says nothing of a pool that was killed where another child of it holds a copy.
        """
        self._engine.start()
        going = True
        with suppress(EOFError, OSError):
            while going and self._engine.running and not pool.gone:
                self._heartbeat.turn()
                if self._pipe.poll(LOOK_S):
                    going = self._perform_all(self._pipe.recv())
        self._engine.stop(STOP_S)

    def _stepped(self, report: StepReport) -> None:
        """Say what came of a step; on the engine's thread."""
        for place, stream in list(self._streams.values()):
            self._decoded[place] = stream.decoded_samples
        self._send(Stepped(report, self._engine.stats))

    def _send(self, reply: Reply) -> None:
        """Say something; a pool that is gone hears nothing more."""
        with self._sending, suppress(OSError):
            self._pipe.send(reply)

    def _perform_all(self, requests: Sequence[Request]) -> bool:
        """In their order; False where one of them was to stop."""
        for request in requests:
            if isinstance(request, Stop):
                return False
            if isinstance(request, OpenStream):
                self._open(request)
            elif (known := self._streams.get(request.number)) is not None:
                # Where it raises the stream is over, and its last event is on its way.
                with suppress(StreamingError):
                    _pass_on(known[1], request)
            self._heartbeat.took(1)
        return True

    def _open(self, request: OpenStream) -> None:
        sink = partial(self._emit, request.number)
        try:
            with self._opening:  # its first event is not to come before it is known
                stream = self._engine.open(request.config, sink, request.priority)
                self._streams[request.number] = (request.place, stream)
        except StreamingError as error:
            self._send(Emitted(request.number, Failed(error)))

    def _emit(self, number: int, event: Event) -> None:
        with self._opening:
            place, stream = self._streams[number]
            self._decoded[place] = stream.decoded_samples
            if isinstance(event, Closed | Failed):
                del self._streams[number]
        self._send(Emitted(number, event))


def _pass_on(stream: Stream, request: StreamRequest) -> None:
    match request:
        case PushSamples():
            stream.push(request.samples)
        case Finalize():
            stream.finalize()
        case Reconfigure():
            stream.configure(request.boosts, request.graph, request.weights)
        case Finish():
            stream.finish()
        case Cancel():
            stream.cancel()
        case AwaitRoom():
            stream.await_room()
        case _:
            assert_never(request)
