"""The pool's end of one worker: its process, the requests to it, and its events."""

import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from earshot.streaming.engine.engine_stats import StepReport
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Event
from earshot.streaming.workers.forked_process import Parent
from earshot.streaming.workers.heartbeat import Signs
from earshot.streaming.workers.messages import Stop, ToWorker, Turn
from earshot.streaming.workers.worker import run_worker
from earshot.streaming.workers.worker_memory import WorkerMemory

# What was loaded before the fork, model and graph, is in memory once, however many workers.
_FORK = multiprocessing.get_context("fork")

GATHER_S = 0.01
"""Between two messages to a worker: each wakes it, whatever it brings. The first does not wait."""

ENDED_S = 1.0
"""For a process to end once it has closed its pipe, so that its status is known."""

EventSink: TypeAlias = Callable[[int, Event], None]
StepSink: TypeAlias = Callable[[StepReport], None]


class WorkerLink:
    """A worker's process, from its start to its end. Every method may be called from any thread.

    Two threads stand between the pool and the pipe, so that nobody waits for a worker that is busy.
    """

    def __init__(self, recognizer: Recognizer, config: EngineConfig, name: str) -> None:
        self._pipe, theirs = _FORK.Pipe()
        self.memory = WorkerMemory.of(config.max_streams)
        self.alive = True
        self._asked: queue.SimpleQueue[ToWorker] = queue.SimpleQueue()
        self._sent = 0
        self._waiting = threading.Lock()
        self._name = name
        self._process = _FORK.Process(
            target=run_worker,
            args=(theirs, recognizer, config, self.memory, Parent.here()),
            name=name,
            daemon=True,
        )
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        """The process's id."""
        return self._process.pid

    @property
    def name(self) -> str:
        """The engine's name, with its process's id."""
        return f"{self._name} (pid {self.pid})"

    @property
    def signs(self) -> Signs:
        """Signs of life. The first step touches everything for the first time, and owes no beat."""
        signs = self.memory.heartbeat.read()
        return replace(signs, busy=signs.busy and self.memory.counters.read().steps > 0)

    @property
    def ending(self) -> str:
        """How the process has ended: by which signal, or with which status."""
        with self._waiting:
            status = self._process.exitcode
        if status is None:
            return "it closed its pipe"
        return f"status {status}" if status >= 0 else signal.Signals(-status).name

    @property
    def has_untaken(self) -> bool:
        """Whether the worker has yet to take requests."""
        return self._sent > self.memory.heartbeat.read().taken or not self._asked.empty()

    @property
    def cpu_s(self) -> float:
        """CPU seconds of the process so far; 0 of one that has ended."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        user, system = fields[11:13]  # proc(5): utime and stime, counted behind the name
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def start(self, emitted: EventSink, stepped: StepSink, gone: Callable[[], None]) -> None:
        """Listen to the worker from now on. `gone` is called once, when it has said its last."""
        for target, args in ((self._hear, (emitted, stepped, gone)), (self._tell, ())):
            threading.Thread(target=target, args=args, name=self._name, daemon=True).start()

    def ask(self, request: ToWorker) -> None:
        """Send a request as soon as the worker takes it; one that is gone takes none."""
        self._asked.put(request)

    def stop(self, timeout_s: float) -> bool:
        """Have the worker end after its current step, in time or by force; whether in time."""
        self.ask(Stop())
        ended = self._ended_within(timeout_s)
        if not ended:
            self._process.kill()
            self._ended_within(None)
        return ended

    def _ended_within(self, timeout_s: float | None) -> bool:
        """Wait for the process's end. Of two threads that wait, one would not learn of it."""
        with self._waiting:
            self._process.join(timeout_s)
            return self._process.exitcode is not None

    def kill(self) -> None:
        """End the process now; `gone` is called as for one that ends by itself."""
        self._process.kill()

    def _hear(self, emitted: EventSink, stepped: StepSink, gone: Callable[[], None]) -> None:
        with suppress(EOFError, OSError):
            while True:
                turn: Turn = self._pipe.recv()
                for number, event in turn.events:
                    emitted(number, event)
                if turn.step is not None:
                    stepped(turn.step)
        self.alive = False
        self._ended_within(ENDED_S)
        self.ask(Stop())  # the teller ends too
        gone()

    def _tell(self) -> None:
        """Send what has come up since the last time, all at once."""
        with suppress(OSError):
            while self.alive:
                waiting = [self._asked.get()]
                while not self._asked.empty():
                    waiting.append(self._asked.get())
                self._sent += len(waiting)
                self._pipe.send(waiting)
                time.sleep(GATHER_S)
