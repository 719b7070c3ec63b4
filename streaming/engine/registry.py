"""Open streams and free slots, which callers and the engine thread share under one lock."""

import threading
from collections.abc import Callable

from earshot.streaming.engine.free_slots import FreeSlots
from earshot.streaming.errors import EngineStopped
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.inbox import Item
from earshot.streaming.stream_config import StreamPriority


class Registry:
    """Open streams. The engine thread sleeps on `lock` until one of them calls."""

    def __init__(self, num_slots: int) -> None:
        self.lock = threading.Condition()
        self._free = FreeSlots(num_slots)
        self._streams: dict[ActiveStream, None] = {}
        self._calling: dict[ActiveStream, None] = {}
        self.open_live = 0
        self.stopping = False

    @property
    def streams(self) -> list[ActiveStream]:
        """All open streams."""
        with self.lock:
            return list(self._streams)

    @property
    def has_room(self) -> bool:
        """Whether a slot is free."""
        return len(self._free) > 0

    def admit(self, make: Callable[[int], ActiveStream]) -> ActiveStream:
        """Open the stream that `make` makes for a slot. Raises EngineFull and EngineStopped."""
        with self.lock:
            if self.stopping:
                raise EngineStopped("the engine is not running")
            stream = make(self._free.take())
            self._streams[stream] = None
            self.open_live += stream.priority is StreamPriority.LIVE
            self.call(stream)
        return stream

    def dismiss(self, stream: ActiveStream, *, emptied: bool = True) -> None:
        """Close a stream; its slot is free again where it holds nothing of it any more."""
        with self.lock:
            del self._streams[stream]
            self._calling.pop(stream, None)
            self.open_live -= stream.priority is StreamPriority.LIVE
            stream.inbox.clear()
            stream.let_go()
            if emptied:
                self._free.give_back(stream.slot)

    def give_back(self, slot: int) -> None:
        """A slot is empty at last whose stream was dismissed before."""
        with self.lock:
            self._free.give_back(slot)

    def call(self, stream: ActiveStream) -> None:
        """Have the engine look at a stream, unless it is gone."""
        with self.lock:
            if stream in self._streams:
                self._calling[stream] = None
                self.lock.notify()

    def await_audio(self, stream: ActiveStream, samples: int) -> None:
        """Call for the stream once `samples` samples have been pushed in total.

        While something else holds up what was pushed, whoever ends that calls.
        """
        with self.lock:
            stream.inbox.wake_at = samples
            if stream.inbox.pushed >= samples and not stream.inbox.held:
                self.call(stream)

    def release(self, stream: ActiveStream) -> bool:
        """Note how much of the stream's audio is decoded; True when this ends an overflow."""
        with self.lock:
            return stream.inbox.release(stream.consumed_samples)

    def take_items(self, stream: ActiveStream) -> list[Item]:
        """What the stream's callers asked for, up to the next flush."""
        with self.lock:
            return stream.inbox.take()

    def wait(self, timeout_s: float | None) -> list[ActiveStream] | None:
        """Sleep until a stream calls or the time is over; None when the engine is to stop."""
        with self.lock:
            if not self._calling and not self.stopping and timeout_s != 0:
                self.lock.wait(timeout_s)
            calling, self._calling = list(self._calling), {}
            return None if self.stopping else calling

    def stop(self) -> None:
        """Admit no one, and have the engine stop."""
        with self.lock:
            self.stopping = True
            self.lock.notify()
