"""The way from a session to its stream: actions in order, held up while the backlog is full."""

import asyncio
from collections import deque

from earshot.service.audio.pcm import Samples
from earshot.service.core.actions import (
    ConfigureStream,
    FinalizeStream,
    FinishStream,
    PushAudio,
    StreamAction,
)
from earshot.service.core.engine_port import StreamPort
from earshot.streaming.errors import BacklogFull

PUSH_SAMPLES = 4_000
"""A long message goes in by pieces: half of the least backlog, 2 s, at the lowest rate, 4 kHz."""


class StreamFeed:
    """Does stream actions now or, behind a full backlog, when there is room again.

    What it holds is bounded because its session reads no more while `wait_for_room` waits.
    """

    def __init__(self, stream: StreamPort) -> None:
        self._stream = stream
        self._held: deque[StreamAction] = deque()
        self._free = asyncio.Event()
        self._free.set()
        self._stopped = False

    def do(self, action: StreamAction) -> None:
        """Do ``action`` after all before it; streaming errors but BacklogFull pass through.

        A feed that was stopped does nothing any more.
        """
        if self._stopped:
            return
        self._held.extend(_split(action))
        if self._free.is_set():
            self.resume()

    def resume(self) -> None:
        """Go on after `RoomAvailable`."""
        self._free.set()
        while self._held:
            try:
                self._perform(self._held[0])
            except BacklogFull:
                self._free.clear()
                return
            self._held.popleft()

    def stop(self) -> None:
        """Drop what is held and free the stream."""
        self._stopped = True
        self._held.clear()
        self._free.set()
        self._stream.cancel()

    async def wait_for_room(self) -> None:
        """Return when nothing is held up."""
        await self._free.wait()

    def _perform(self, action: StreamAction) -> None:
        match action:
            case PushAudio():
                self._stream.push(action.samples)
            case FinalizeStream():
                self._stream.finalize()
            case ConfigureStream(boosts, graph, weights):
                self._stream.configure(boosts, graph, weights)
            case FinishStream():
                self._stream.finish()


def _split(action: StreamAction) -> list[StreamAction]:
    if not isinstance(action, PushAudio):
        return [action]
    samples: Samples = action.samples
    starts = range(0, len(samples), PUSH_SAMPLES)
    return [PushAudio(samples[start : start + PUSH_SAMPLES]) for start in starts]
