"""Connections as uvicorn makes them, with the deadlines it lacks."""

import asyncio
import sys
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import h11
import websockets.http11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode

MAX_HEADER_BYTES = 192 * 1024
"""Room for a query with as many and as long phrases as may be boosted."""

# A handshake is parsed twice: by h11, bounded as above, then by websockets, whose limit on the
# request line is lower than what phrases need and cannot be passed in.
websockets.http11.MAX_LINE_LENGTH = MAX_HEADER_BYTES

MAX_WAITING_MESSAGES = 4
CLOSE_TIMEOUT_S = 5.0
_ANSWER = b"HTTP/1.1 %s\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TIMED_OUT = _ANSWER % b"408 Request Timeout"
_TOO_LARGE = _ANSWER % b"431 Request Header Fields Too Large"


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

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over; answer where websockets finds the header too large to."""
        super().handle_websocket_upgrade(event)
        successor = self.transport.get_protocol()
        if isinstance(successor, LiveSocket) and not successor.handshake_initiated:
            self._refuse(_TOO_LARGE)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP; uvicorn does not say what h11 found, which is still at hand."""
        fault = sys.exception()
        if (
            isinstance(fault, h11.RemoteProtocolError)
            and fault.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        ):
            self._refuse(_TOO_LARGE)
        else:
            super().send_400_response(msg)

    def _refuse(self, answer: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()

    def _arm(self) -> None:
        self._header_timer = self.loop.call_later(self.header_timeout_s, self._expired)

    def _disarm(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _expired(self) -> None:
        self._header_timer = None
        self._refuse(_TIMED_OUT)


def with_header_timeout(timeout_s: float) -> type[DeadlineHttp]:
    """Return the HTTP protocol class with its deadline; uvicorn takes a class, not an instance."""
    return type("DeadlineHttp", (DeadlineHttp,), {"header_timeout_s": timeout_s})


class LiveSocket(WebSocketsSansIOProtocol):
    """A WebSocket that reads ahead a bit, and that closes although its client reads nothing."""

    def send_receive_event_to_app(self) -> None:
        """Queue a message; stop reading when several wait, not after each one as uvicorn does.

        Pausing and resuming are two system calls, which small audio messages make dear.
        """
        if self.curr_msg_data_type == "text" and not _is_utf8(self.frames):
            self._end_for_bad_text()
            return
        reads_on = not self.read_paused and self.queue.qsize() < MAX_WAITING_MESSAGES
        if reads_on:
            self.read_paused = True  # what the base class finds paused it does not pause
        super().send_receive_event_to_app()
        if reads_on:
            self.read_paused = False

    def _end_for_bad_text(self) -> None:
        """As the base class does, which calls the client's fault its own: with a traceback."""
        self.frames = []
        if not self.close_sent:
            self.conn.send_close(CloseCode.INVALID_DATA)
            self.handle_parser_exception()

    async def send(self, message: Any) -> None:
        """Send an ASGI message; a close does not wait for room in the transport."""
        if message["type"] == "websocket.close" and self.handshake_complete:
            self.writable.set()
            # transport.close() waits for the client to read what is buffered: forever, if it never
            # does.
            self.loop.call_later(CLOSE_TIMEOUT_S, self._abort)
        await super().send(message)

    def shutdown(self) -> None:
        """Close because the server stops; a close that we have sent waits for its answer.

        With audio on its way, a connection closed at once is reset, and the client may lose the
        frame whose code says to come back. The server waits as for other last responses.
        """
        if self.close_timer is None:
            super().shutdown()

    def _abort(self) -> None:
        if not self.disconnected:
            self.transport.abort()


def _is_utf8(frames: Sequence[bytes]) -> bool:
    try:
        b"".join(frames).decode()
    except UnicodeDecodeError:
        return False
    return True
