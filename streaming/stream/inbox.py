"""What the callers of one stream have asked for and the engine has not yet taken, in order."""

from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.errors import BacklogFull
from earshot.streaming.stream.features import Samples
from earshot.streaming.stream_config import StreamConfig


@dataclass(frozen=True)
class Flush:
    """Everything before this is to be decoded to its end; `last` when nothing follows."""

    last: bool

    @property
    def cause(self) -> Literal["end", "finalize"]:
        """What the final says of it."""
        return "end" if self.last else "finalize"


@dataclass(frozen=True, eq=False)
class Reconfigure:
    """Another config, from here on; nothing behind this is taken before its boosts are compiled."""

    config: StreamConfig
    boosts: Future[CompiledBoosts]


Item: TypeAlias = Samples | Flush | Reconfigure

MAX_REQUESTS = 64
"""Flushes and reconfigurations that may wait; they hold no samples, so the backlog is no bound."""


class Inbox:
    """A bounded queue between the callers of one stream and the engine. Its owner holds a lock.

    The engine says with `wake_at` how many samples in total it needs before looking is worth its
    while, so most pushes wake nobody.
    """

    def __init__(self, max_backlog: int) -> None:
        self._items: deque[Item] = deque()
        self._requests = 0
        self.max_backlog = max_backlog
        self.overflowed = False
        self.pushed = 0
        self.consumed = 0
        self.wake_at = 0
        self.closed = False
        self.cancelled = False

    @property
    def backlog(self) -> int:
        """Samples pushed and not yet decoded."""
        return self.pushed - self.consumed

    @property
    def room(self) -> int:
        """Samples that can be pushed now."""
        return max(self.max_backlog - self.backlog, 0)

    def push(self, samples: Samples) -> bool:
        """Append samples; True when the engine should look. Raises BacklogFull and takes none.

        An empty array is not kept: it would count for nothing in the backlog, which is the bound.
        """
        if not len(samples):
            return False
        if len(samples) > self.room:
            self.overflowed = True
            raise BacklogFull(f"{len(samples)} samples pushed where {self.room} have room")
        self._items.append(np.array(samples))
        self.pushed += len(samples)
        return self.pushed >= self.wake_at

    def put(self, item: Flush | Reconfigure) -> None:
        """Append a request; the engine should look. Raises BacklogFull, but for the last flush."""
        if self._requests >= MAX_REQUESTS and not (isinstance(item, Flush) and item.last):
            self.overflowed = True
            raise BacklogFull(f"{self._requests} requests wait already")
        self._items.append(item)
        self._requests += 1

    @property
    def held(self) -> bool:
        """Whether what comes next waits for boosts to be compiled."""
        first = self._items[0] if self._items else None
        return isinstance(first, Reconfigure) and not first.boosts.done()

    def take(self) -> list[Item]:
        """Remove and return everything up to and including the next flush, or what is held."""
        taken: list[Item] = []
        while self._items and not self.held:
            taken.append(self._items.popleft())
            self._requests -= isinstance(taken[-1], Flush | Reconfigure)
            if isinstance(taken[-1], Flush):
                break
        return taken

    def release(self, consumed: int) -> bool:
        """Note how many samples are decoded in total; True when this ends an overflow."""
        self.consumed = consumed
        half_empty = 2 * self.backlog <= self.max_backlog and 2 * self._requests <= MAX_REQUESTS
        drained = self.overflowed and half_empty
        if drained:
            self.overflowed = False
        return drained

    def clear(self) -> None:
        """Forget everything: the stream is over. Boosts that wait to be compiled need not be."""
        for item in self._items:
            if isinstance(item, Reconfigure):
                item.boosts.cancel()
        self._items.clear()
        self._requests = 0
        self.closed = True
        self.consumed = self.pushed
