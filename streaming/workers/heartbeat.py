"""A worker's signs of life, in memory that it shares with its pool."""

import ctypes
from dataclasses import dataclass
from multiprocessing.sharedctypes import RawArray

_TURNS, _TAKEN, _BEATS, _BUSY = range(4)


@dataclass(frozen=True)
class Signs:
    """How a worker stood at one moment.

    turns: of the main thread's loop; it makes some each second, whatever the engine does.
    taken: requests that it has passed on to the engine. beats: of the engine's thread.
    busy: whether that one works, and so owes a beat; else it sleeps until a stream calls.
    """

    turns: int
    taken: int
    beats: int
    busy: bool


class Heartbeat:
    """Counters with one writer each and no lock; also the engine's `Pulse`.

    A process that is stopped, or whose interpreter is held up, cannot tell of it by any message.
    """

    def __init__(self) -> None:
        self._counts = RawArray(ctypes.c_int64, 4)

    def turn(self) -> None:
        """The main thread goes on."""
        self._counts[_TURNS] += 1

    def took(self, requests: int) -> None:
        """The main thread has passed requests on."""
        self._counts[_TAKEN] += requests

    def beat(self) -> None:
        """See `Pulse.beat`."""
        self._counts[_BEATS] += 1
        self._counts[_BUSY] = 1

    def rest(self) -> None:
        """See `Pulse.rest`."""
        self._counts[_BUSY] = 0

    def read(self) -> Signs:
        """What the pool sees."""
        turns, taken, beats, busy = self._counts
        return Signs(turns, taken, beats, busy=bool(busy))
