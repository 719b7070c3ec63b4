"""A live WebSocket as uvicorn makes it, bounded where uvicorn trusts its client."""

import asyncio
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request
from websockets.protocol import State

from earshot.service.errors import SlowReader
from earshot.service.http.dialect import Dialect
from earshot.service.http.handshake import Handshake
from earshot.service.http.read_pace import ReadPace
from earshot.service.outcomes import close_reason, outcome_of

MAX_WAITING_MESSAGES = 4
CLOSE_TIMEOUT_S = 5.0
PIECE_BYTES = 4096
"""Parsed at once: hundreds of the smallest frames, milliseconds of the loop that serves all."""

_READING_RESTS = "earshot.reading_rests"
"""Of a scope's extensions."""


class LiveSocket(WebSocketsSansIOProtocol):
    """A WebSocket that reads ahead a bit, and that closes although its client reads nothing.

    Frames that are no message (pings, pongs, pieces of messages) never reach the session, which
    paces messages: they are paced here. Pongs that the client does not read are bounded as results
    are. A subclass made by `live_socket_class` carries that bound, and who words a refusal.
    """

    max_outbox_bytes = 1 << 20
    dialects: Sequence[Dialect] = ()
    _resting: asyncio.TimerHandle | None = None
    _delay_s = 0.0
    _deaf = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn: Handshake = Handshake(
            self.dialects,
            extensions=self.conn.available_extensions,
            max_size=self.config.ws_max_size,
            logger=self.conn.logger,
        )
        self._pace = ReadPace()
        self._unparsed = bytearray()

    def data_received(self, data: bytes) -> None:
        """Take bytes; while the reading rests they wait, and of a slow reader they are dropped."""
        if self._deaf or self._rests:
            self.transport.pause_reading()
        if not self._deaf:
            self._unparsed += data
            self._parse()

    def connection_lost(self, exc: Exception | None) -> None:
        """Rest no more."""
        if self._resting is not None:
            self._resting.cancel()
        super().connection_lost(exc)

    def handle_connect(self, event: Request) -> None:
        """Begin the handshake; the application may ask whether the reading rests."""
        super().handle_connect(event)
        if self.response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            extensions: Any = self.scope["extensions"]
            extensions[_READING_RESTS] = lambda: self._rests

    def handle_ping(self) -> None:
        """Answer, and look whether answers are read."""
        super().handle_ping()
        self._charge()
        if self.transport.get_write_buffer_size() > self.max_outbox_bytes:
            self._end_slow_reader()

    def handle_pong(self, event: Frame) -> None:
        """Take the answer to a ping, or one that nobody asked for."""
        super().handle_pong(event)
        self._charge()

    def handle_text(self, event: Frame) -> None:
        """Take a text, or its first piece."""
        super().handle_text(event)
        self._charge_piece(event)

    def handle_bytes(self, event: Frame) -> None:
        """Take audio, or its first piece."""
        super().handle_bytes(event)
        self._charge_piece(event)

    def handle_cont(self, event: Frame) -> None:
        """Take another piece of a message."""
        super().handle_cont(event)
        self._charge_piece(event)

    async def receive(self) -> Any:
        """Give the next message; the base class then reads on, where that does not rest."""
        message = await super().receive()
        if self._rests:
            self.transport.pause_reading()
        return message

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

    async def send(self, message: Any) -> None:
        """Send an ASGI message; a close does not wait for room in the transport."""
        if message["type"] == "websocket.close" and self.handshake_complete:
            self.writable.set()
            self._abort_soon()
        await super().send(message)

    def shutdown(self) -> None:
        """Close because the server stops; a close that we have sent waits for its answer.

        With audio on its way, a connection closed at once is reset, and the client may lose the
        frame whose code says to come back. The server waits as for other last responses.
        """
        if self._deaf:
            self.transport.abort()  # its answer would not be heard
        elif self.close_timer is None:
            super().shutdown()

    @property
    def _rests(self) -> bool:
        return self._resting is not None

    def _parse(self) -> None:
        while self._unparsed and not self._rests:
            piece = bytes(self._unparsed[:PIECE_BYTES])
            del self._unparsed[:PIECE_BYTES]
            self._delay_s = 0.0
            super().data_received(piece)
            if self.transport.is_closing():
                self._unparsed.clear()
            elif self._delay_s:
                self._rest(self._delay_s)

    def _charge_piece(self, event: Frame) -> None:
        if not event.fin:
            self._delay_s = self._pace.piece_delay_s(self.loop.time())

    def _charge(self) -> None:
        self._delay_s = self._pace.delay_s(b"", self.loop.time())

    def _rest(self, delay_s: float) -> None:
        self.transport.pause_reading()
        self._resting = self.loop.call_later(delay_s, self._read_on)

    def _read_on(self) -> None:
        self._resting = None
        self._parse()
        if not (self._rests or self.read_paused or self._deaf):
            self.transport.resume_reading()

    def _end_slow_reader(self) -> None:
        """Close with what a session says to a client that does not read its results.

        It has until the abort to read that: closed at once, with bytes unread, it would be reset.
        """
        self._deaf = True
        self._unparsed.clear()
        self.transport.pause_reading()
        if self.close_sent or self.conn.state is not State.OPEN:
            return
        error = SlowReader(f"more than {self.max_outbox_bytes} bytes of pongs are unread")
        code, reason = outcome_of(error).close_code, close_reason(error)
        ended: Any = {"type": "websocket.disconnect", "code": code, "reason": reason}
        ended["error"] = error
        self.queue.put_nowait(ended)
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.close_timer = self.loop.call_later(self.close_timeout, self.transport.close)
        self._abort_soon()

    def _end_for_bad_text(self) -> None:
        """End like the base class, without the traceback by which that calls the fault its own."""
        self.frames = []
        if not self.close_sent:
            self.conn.send_close(CloseCode.INVALID_DATA)
            self.handle_parser_exception()

    def _abort_soon(self) -> None:
        """`transport.close` waits for the client to read what is buffered: forever, it may be."""
        self.loop.call_later(CLOSE_TIMEOUT_S, self._abort)

    def _abort(self) -> None:
        if not self.disconnected:
            self.transport.abort()


def live_socket_class(max_outbox_bytes: int, dialects: Sequence[Dialect]) -> type[LiveSocket]:
    """Return the protocol class with its bound; uvicorn takes a class, not an instance."""
    carried = {"max_outbox_bytes": max_outbox_bytes, "dialects": dialects}
    return type("LiveSocket", (LiveSocket,), carried)


def reading_rests_of(scope: Scope) -> Callable[[], bool]:
    """A callable that says whether messages may lie unread because of those before them.

    They never do where another server than ours carries the socket.
    """
    rests: Callable[[], bool] | None = (scope.get("extensions") or {}).get(_READING_RESTS)
    return rests or (lambda: False)


def _is_utf8(frames: Sequence[bytes]) -> bool:
    try:
        b"".join(frames).decode()
    except UnicodeDecodeError:
        return False
    return True
