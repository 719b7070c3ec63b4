"""What a worker says to its pool, sent by a thread of its own."""

import logging
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler

from earshot.streaming.engine.isolation import failure_of
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.events import Closed, Event, Failed
from earshot.streaming.workers.messages import Turn

log = logging.getLogger(__name__)

MAX_TURNS = 1024
"""Turns that may wait for a pool that does not read: then the engine waits with them."""

UNTOLD = "a result of this stream could not be sent to the server's process"


class Outgoing:
    """Sends turns as they come; the engine's thread neither pickles them nor writes to the pipe.

    give_up: called with the number of a stream that has an event which cannot be pickled: it is to
    be cancelled. Nothing more is told of it but that it has failed.
    """

    def __init__(self, pipe: Connection, give_up: Callable[[int], None]) -> None:
        self._pipe = pipe
        self._give_up = give_up
        self._lost: set[int] = set()
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
        """Send a turn; False where the pool is gone."""
        error = failure_of(partial(self._pipe.send, self._told(turn)))
        if isinstance(error, OSError):
            return False
        if error is None:
            return True
        log.error("an event cannot be pickled; its stream fails", exc_info=error)
        return not self._lose(turn) or self._sent(turn)

    def _lose(self, turn: Turn) -> bool:
        """Give up the streams whose events cannot be pickled; whether there are any."""
        bad = {number for number, event in turn.events if not _is_picklable(event)} - self._lost
        self._lost |= bad
        for number in bad:
            self._give_up(number)
        return bool(bad)

    def _told(self, turn: Turn) -> Turn:
        """The turn, of lost streams their end alone."""
        if not self._lost:
            return turn
        events = []
        for number, event in turn.events:
            if number not in self._lost:
                events.append((number, event))
            elif isinstance(event, Closed | Failed):
                events.append((number, Failed(DecodingFailed(UNTOLD))))
                self._lost.remove(number)
        return Turn(tuple(events), turn.step)


def _is_picklable(event: Event) -> bool:
    return failure_of(partial(ForkingPickler.dumps, event)) is None
