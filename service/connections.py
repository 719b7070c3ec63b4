"""Connections as uvicorn makes them, with the deadlines it lacks."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

CLOSE_TIMEOUT_S = 5.0
_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class DeadlineHttp(H11Protocol):
    """HTTP whose request headers must be complete in time: half a header holds no socket.

    A subclass made by `with_header_timeout` carries the time.
    """

    header_timeout_s = 10.0
    _header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self._arm()

    def data_received(self, data: bytes) -> None:
        """Stop the clock when a header is complete, start it when another begins."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._disarm()
        elif self._header_timer is None:
            self._arm()  # the next request of a kept connection has begun

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._disarm()
        super().connection_lost(exc)

    def _arm(self) -> None:
        self._header_timer = self.loop.call_later(self.header_timeout_s, self._expired)

    def _disarm(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _expired(self) -> None:
        self._header_timer = None
        if not self.transport.is_closing():
            self.transport.write(_TIMED_OUT)
            self.transport.close()


def with_header_timeout(timeout_s: float) -> type[DeadlineHttp]:
    """Return the HTTP protocol class with its deadline; uvicorn takes a class, not an instance."""
    return type("DeadlineHttp", (DeadlineHttp,), {"header_timeout_s": timeout_s})


class LiveSocket(WebSocketsSansIOProtocol):
    """A WebSocket that can be closed although its client reads nothing."""

    async def send(self, message: Any) -> None:
        """Send an ASGI message; a close does not wait for room in the transport."""
        if message["type"] == "websocket.close" and self.handshake_complete:
            self.writable.set()
            # transport.close() waits for the client to read what is buffered: forever, if it never
            # does.
            self.loop.call_later(CLOSE_TIMEOUT_S, self._abort)
        await super().send(message)

    def _abort(self) -> None:
        if not self.disconnected:
            self.transport.abort()
