"""Messages that wait to be sent on one socket, bounded."""

import asyncio
from collections import deque

from earshot.service.errors import SlowReader
from earshot.service.sessions.actions import Close, Send


class Outbox:
    """A queue with one reader. Finals are kept; a waiting partial gives way to newer results.

    Partials wait apart for each channel.

    Only the event loop's thread may use it.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._waiting: deque[str] = deque()
        self._partials: dict[int, str] = {}
        self._close: Close | None = None
        self._filled = asyncio.Event()

    def put(self, action: Send, *, last: bool = False) -> None:
        """Queue a message; anything after the close is dropped.

        Raises:
            SlowReader: more than ``max_bytes`` would wait, and it is not the ``last``.
        """
        if self._close is not None:
            return
        text = action.message.to_json()
        channel = action.result_of
        if channel is not None:
            self._partials.pop(channel, None)  # a newer result: the client need not see that one
        if action.replaceable and channel is not None:
            self._partials[channel] = text
        else:
            self._keep(text, last)
        self._filled.set()

    def close(self, close: Close) -> None:
        """Queue the close of the socket; the first one holds."""
        self._close = self._close or close
        self._filled.set()

    def abandon(self) -> None:
        """Drop all that waits: the client does not read it."""
        self._waiting.clear()
        self._partials.clear()
        self._bytes = 0

    async def take(self) -> str | Close:
        """Return what is to be sent next; after the `Close` there is nothing more."""
        while (item := self._next()) is None:
            self._filled.clear()
            await self._filled.wait()
        return item

    def _keep(self, text: str, last: bool) -> None:
        size = len(text.encode())
        if self._bytes + size > self._max_bytes and not last:
            raise SlowReader(f"more than {self._max_bytes} bytes of results are unread")
        self._bytes += size
        self._waiting.append(text)

    def _next(self) -> str | Close | None:
        if self._waiting:
            text = self._waiting.popleft()
            self._bytes -= len(text.encode())
            return text
        if self._partials:
            return self._partials.pop(next(iter(self._partials)))
        return self._close
