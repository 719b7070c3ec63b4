"""Bytes from an event loop to a thread that reads them as a file."""

import threading
from collections.abc import Callable


class PipeClosed(Exception):
    """Nobody wants what is made of the bytes any more."""


class BytePipe:
    """Bytes for one reader, who waits for them; the writer never waits.

    on_hungry is called on the reader's thread when all that was given is read and more is wanted:
    once for each `give` but the last. Who gives only then holds no more than one message here.
    """

    def __init__(self, on_hungry: Callable[[], None]) -> None:
        self._on_hungry = on_hungry
        self._changed = threading.Condition()
        self._bytes = bytearray()
        self._is_owed = False  # an on_hungry, for the last give
        self._has_ended = self._is_closed = False

    def give(self, data: bytes, *, last: bool = False) -> None:
        """Add bytes; after the last the reader is told of the end."""
        with self._changed:
            self._bytes += data
            self._has_ended = last
            self._is_owed = True
            self._changed.notify()

    def close(self) -> None:
        """Wake the reader, who reads nothing any more."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def read(self, size: int) -> bytes:
        """Return 1 to ``size`` bytes, none at the end. Raises PipeClosed."""
        if self._is_owed and not self._bytes and not self._has_ended:
            self._is_owed = False
            self._on_hungry()
        with self._changed:
            self._changed.wait_for(lambda: self._bytes or self._has_ended or self._is_closed)
            if self._is_closed:
                raise PipeClosed
            taken = bytes(self._bytes[:size])
            del self._bytes[: len(taken)]
            return taken
