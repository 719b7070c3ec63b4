"""The thread that looks after a pool's engines: it tells of late ones, and kills hung ones."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from earshot.streaming.workers.hang_watch import HUNG_S, LATE_S, LOOK_S, HangWatch
from earshot.streaming.workers.heartbeat import Signs

log = logging.getLogger(__name__)


class Watched(Protocol):
    """An engine in a process of its own."""

    @property
    def name(self) -> str:
        """For the log, with the process's id."""

    @property
    def signs(self) -> Signs:
        """How it stands."""

    @property
    def work_waits(self) -> bool:
        """Whether it has requests to take, or audio to decode."""

    def kill(self) -> None:
        """End the process now."""


class PoolWatch:
    """Looks at each engine several times a second, from `start` to `stop`."""

    def __init__(
        self, engines: Sequence[Watched], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engines = [(engine, HangWatch(clock)) for engine in engines]
        self._stopping = threading.Event()

    def start(self) -> None:
        """Begin to look; once."""
        threading.Thread(target=self._run, name="pool-watch", daemon=True).start()

    def stop(self) -> None:
        """Look no more: engines that end answer nobody."""
        self._stopping.set()

    @property
    def late(self) -> int:
        """How many engines are late."""
        return sum(watch.late for _, watch in self._engines)

    def look(self) -> None:
        """Look at each engine once."""
        for engine, watch in self._engines:
            was_late, was_hung = watch.late, watch.hung
            watch.look(engine.signs, engine.work_waits)
            if watch.hung and not was_hung:
                log.critical("%s has not worked for %g s: it is killed", engine.name, HUNG_S)
                engine.kill()
            elif watch.late and not was_late:
                log.error("%s has not worked for %g s, and work waits", engine.name, LATE_S)
            elif was_late and not watch.late:
                log.warning("%s works again", engine.name)

    def _run(self) -> None:
        while not self._stopping.wait(LOOK_S):
            self.look()
