"""The requests of one stream that the engine has not yet taken, in order."""

from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.language_models.held_lms import HeldLms, let_go
from earshot.streaming.lm_mix import LmMix
from earshot.streaming.requests import AwaitRoom, Cancel, Configure, Flush, InTurn, Push
from earshot.streaming.samples import Samples
from earshot.streaming.serial_thread import at_hand
from earshot.streaming.stream.backlog import MAX_REQUESTS
from earshot.streaming.stream.sample_count import SampleCount


@dataclass(frozen=True, eq=False)
class Reconfigure:
    """A `Configure` whose boosts are being compiled, and whose language models are being opened.

    Nothing behind it is taken before they are. lms: none where the request leaves them alone. A
    change that will not be done has its reason in place of the boosts.
    """

    request: Configure
    boosts: Future[CompiledBoosts]
    lms: Future[HeldLms] = field(default_factory=lambda: at_hand(HeldLms()))

    @property
    def at_hand(self) -> bool:
        """Whether it can be done."""
        return self.boosts.done() and self.lms.done()

    def let_go(self) -> None:
        """It will not be done: the stream is over."""
        self.boosts.cancel()
        let_go(self.lms)


Item: TypeAlias = Samples | InTurn | Reconfigure


class Inbox:
    """A queue between the callers of one stream and the engine. Its owner holds a lock.

    `Backlog` has admitted what comes in. The engine says with `wake_at` how many samples in total
    it needs before looking is worth its while, so most pushes wake nobody.
    """

    def __init__(self, max_backlog: int, decoded: SampleCount | None = None) -> None:
        self._items: deque[Item] = deque()
        self._requests = 0
        self._max_backlog = max_backlog
        self._decoded = decoded or SampleCount()
        self._over = False
        self.overflowed = False
        self.pushed = 0
        self.wake_at = 0
        self.cancelled = False

    @property
    def backlog(self) -> int:
        """Samples pushed and not yet decoded."""
        return self.pushed - self._decoded.value

    @property
    def room(self) -> int:
        """Samples that can be pushed now."""
        return max(self._max_backlog - self.backlog, 0)

    def put(self, request: Push | InTurn | Reconfigure | Cancel | AwaitRoom) -> bool:
        """Append a request; True when the engine should look."""
        if self._over:
            return False
        match request:
            case Push(samples):
                self._items.append(samples)
                self.pushed += len(samples)
                return self.pushed >= self.wake_at
            case Cancel():
                self.cancelled = True
            case AwaitRoom():
                self.overflowed = True
            case _:
                self._items.append(request)
                self._requests += 1
        return True

    @property
    def opening(self) -> int:
        """How many changes of language models wait."""
        items = [item for item in self._items if isinstance(item, Reconfigure)]
        return sum(isinstance(item.request.lm, LmMix) for item in items)

    @property
    def held(self) -> bool:
        """Whether what comes next waits for boosts to be compiled, or models to be opened."""
        first = self._items[0] if self._items else None
        return isinstance(first, Reconfigure) and not first.at_hand

    def take(self) -> list[Item]:
        """Remove and return everything up to and including the next flush, or what is held.

        Raises DecodingFailed where more was let in than there is room for.
        """
        if self.backlog > self._max_backlog or self._requests > MAX_REQUESTS + 1:
            raise DecodingFailed(f"{self.backlog} samples, {self._requests} requests were let in")
        taken: list[Item] = []
        while self._items and not self.held:
            taken.append(self._items.popleft())
            self._requests -= not isinstance(taken[-1], np.ndarray)
            if isinstance(taken[-1], Flush):
                break
        return taken

    def release(self, consumed: int) -> bool:
        """Note how many samples are decoded in total; True when this ends an overflow."""
        self._decoded.value = consumed
        half_empty = 2 * self.backlog <= self._max_backlog and 2 * self._requests <= MAX_REQUESTS
        drained = self.overflowed and half_empty
        if drained:
            self.overflowed = False
        return drained

    def clear(self) -> None:
        """Forget everything: the stream is over. Nobody waits for boosts and models any more."""
        for item in self._items:
            if isinstance(item, Reconfigure):
                item.let_go()
        self._items.clear()
        self._requests = 0
        self._over = True
        self._decoded.value = self.pushed
