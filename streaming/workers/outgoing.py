"""What a worker says to its pool, sent by a thread of its own."""

import queue
import threading
from contextlib import suppress
from multiprocessing.connection import Connection

from earshot.streaming.workers.messages import Turn

MAX_TURNS = 1024
"""Turns that may wait for a pool that does not read: then the engine waits with them."""


class Outgoing:
    """Sends turns as they come; the engine's thread neither pickles them nor writes to the pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._waiting: queue.Queue[Turn | None] = queue.Queue(MAX_TURNS)
        self._thread = threading.Thread(target=self._send_all, name="outgoing", daemon=True)
        self._thread.start()

    def put(self, turn: Turn) -> None:
        """Send a turn soon; a pool that is gone hears nothing more."""
        self._waiting.put(turn)

    def close(self, timeout_s: float) -> None:
        """Send what is left, as far as the pool reads it in time, and end."""
        with suppress(queue.Full):
            self._waiting.put(None, timeout=timeout_s)
            self._thread.join(timeout_s)

    def _send_all(self) -> None:
        gone = False
        while (turn := self._waiting.get()) is not None:
            if not gone:
                gone = not self._sent(turn)

    def _sent(self, turn: Turn) -> bool:
        with suppress(OSError):
            self._pipe.send(turn)
            return True
        return False
