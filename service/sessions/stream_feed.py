"""The way from a session to its stream: requests in order, held up while the backlog is full."""

import asyncio
from collections import deque

from earshot.service.core.engine_port import StreamPort
from earshot.streaming.errors import BacklogFull
from earshot.streaming.requests import Cancel, Request


class StreamFeed:
    """Passes requests on now or, behind a full backlog, when there is room again.

    What it holds is bounded because its session reads no more while `wait_for_room` waits.
    """

    def __init__(self, stream: StreamPort) -> None:
        self._stream = stream
        self._held: deque[Request] = deque()
        self._free = asyncio.Event()
        self._free.set()
        self._stopped = False

    def ask(self, request: Request) -> None:
        """Ask after all before it, or `Cancel` at once; streaming errors but BacklogFull pass.

        A feed that was stopped asks nothing any more.
        """
        if isinstance(request, Cancel):
            self.stop()
        elif not self._stopped:
            self._held.append(request)
            if self._free.is_set():
                self.resume()

    def resume(self) -> None:
        """Go on after `RoomAvailable`."""
        self._free.set()
        while self._held:
            try:
                self._stream.ask(self._held[0])
            except BacklogFull:
                self._free.clear()
                return
            self._held.popleft()

    def stop(self) -> None:
        """Drop what is held and free the stream."""
        self._stopped = True
        self._held.clear()
        self._free.set()
        self._stream.ask(Cancel())

    async def wait_for_room(self) -> None:
        """Return when nothing is held up."""
        await self._free.wait()
