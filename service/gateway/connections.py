"""HTTP connections as uvicorn makes them, with the deadlines it lacks."""

import asyncio
import sys
from collections.abc import Sequence
from http import HTTPStatus

import h11
import websockets.http11
from uvicorn.protocols.http.h11_impl import H11Protocol

from earshot.service.http.dialect import Dialect, dialect_of
from earshot.service.http.live_socket import LiveSocket
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_log import log

MAX_HEADER_BYTES = 192 * 1024
"""Room for a query with as many and as long phrases as may be boosted."""

# A handshake is parsed twice: by h11, bounded as above, then by websockets, whose limit on the
# request line is lower than what phrases need and cannot be passed in.
websockets.http11.MAX_LINE_LENGTH = MAX_HEADER_BYTES

_ANSWER = b"HTTP/1.1 %s\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TIMED_OUT = _ANSWER % b"408 Request Timeout"
_TOO_LARGE = _ANSWER % b"431 Request Header Fields Too Large"


class DeadlineHttp(H11Protocol):
    """HTTP whose request headers must be complete in time: half a header holds no socket.

    A subclass made by `http_class` carries the time, and who words what is no HTTP.
    """

    header_timeout_s = 10.0
    dialects: Sequence[Dialect] = ()
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

    def _should_upgrade(self) -> bool:
        """Only a GET opens a WebSocket; of others HTTP lets a server ignore the wish."""
        return self.scope["method"] == "GET" and super()._should_upgrade()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over; answer where websockets cannot read the request."""
        super().handle_websocket_upgrade(event)
        successor = self.transport.get_protocol()
        if isinstance(successor, LiveSocket) and not successor.handshake_initiated:
            answer = successor.conn.reject_unread(self.scope["path"])
            self._refuse(_TOO_LARGE if answer is None else answer.serialize())

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP; uvicorn does not say what h11 found, which is still at hand."""
        fault = sys.exception()
        if (
            isinstance(fault, h11.RemoteProtocolError)
            and fault.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        ):
            self._refuse(_TOO_LARGE)
        else:
            self._refuse_unread(f"no valid HTTP: {fault or msg}")

    def _refuse_unread(self, message: str) -> None:
        refusal = Refusal.of_status(HTTPStatus.BAD_REQUEST, message)
        log.info("request_refused", **refusal.logged)
        answer = dialect_of("", self.dialects).refuse(refusal)
        headers = [*answer.headers.raw, (b"connection", b"close")]
        head = h11.Response(status_code=HTTPStatus.BAD_REQUEST, headers=headers)
        for part in (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(part))
        self.transport.close()

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


def http_class(header_timeout_s: float, dialects: Sequence[Dialect]) -> type[DeadlineHttp]:
    """Return the HTTP protocol class with its deadline; uvicorn takes a class, not an instance."""
    carried = {"header_timeout_s": header_timeout_s, "dialects": dialects}
    return type("DeadlineHttp", (DeadlineHttp,), carried)
