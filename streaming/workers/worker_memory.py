"""The memory that a pool and one worker share: the worker writes, the pool reads, no lock."""

import ctypes
from dataclasses import dataclass, field
from multiprocessing.sharedctypes import RawArray

from earshot.streaming.stream.sample_count import Numbers
from earshot.streaming.workers.heartbeat import Heartbeat
from earshot.streaming.workers.shared_counters import SharedCounters


@dataclass(frozen=True)
class WorkerMemory:
    """Made before the fork. decoded: for each place how many samples of its stream are decoded."""

    decoded: Numbers
    counters: SharedCounters = field(default_factory=SharedCounters)
    heartbeat: Heartbeat = field(default_factory=Heartbeat)

    @classmethod
    def of(cls, places: int) -> "WorkerMemory":
        """The memory of a worker with so many places for streams."""
        return cls(RawArray(ctypes.c_int64, places))
