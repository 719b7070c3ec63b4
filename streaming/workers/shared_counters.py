"""An engine's counters in memory that its pool reads too: nobody has to ask for them."""

import ctypes
from dataclasses import astuple, fields
from multiprocessing.sharedctypes import RawArray

from earshot.streaming.engine.engine_stats import Counters
from earshot.streaming.results.search_counts import SearchCounts

_PLAIN = tuple(field.name for field in fields(Counters) if field.name != "search")
_OF_SEARCH = tuple(field.name for field in fields(SearchCounts))


class SharedCounters:
    """One number for each counter, written whole; the engine writes, and no lock is needed.

    It is made before the fork. All are floats, which count exactly up to 2^53.
    """

    def __init__(self) -> None:
        self._numbers = RawArray(ctypes.c_double, len(_PLAIN) + len(_OF_SEARCH))

    def write(self, counters: Counters) -> None:
        """Publish what the engine has counted."""
        plain = [getattr(counters, name) for name in _PLAIN]
        self._numbers[:] = [*plain, *astuple(counters.search)]

    def read(self) -> Counters:
        """The counters as they were last written."""
        numbers = self._numbers[:]
        search = SearchCounts(*map(int, numbers[len(_PLAIN) :]))
        counters = Counters(search=search)
        for name, number in zip(_PLAIN, numbers, strict=False):
            setattr(counters, name, type(getattr(counters, name))(number))
        return counters
