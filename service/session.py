"""One WebSocket session: carries messages between the socket, the protocol and the stream."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from starlette.websockets import WebSocket, WebSocketDisconnect

from service.engine_port import StreamPort
from service.errors import IdleSession, SlowReader
from service.latency_clock import LatencyClock
from service.listen_actions import (
    Action,
    CancelStream,
    Close,
    FinalizeStream,
    FinishStream,
    PushAudio,
    Send,
    StreamAction,
)
from service.listen_protocol import ListenProtocol, State
from service.outbox import Outbox
from service.read_pace import ReadPace
from service.stream_feed import StreamFeed
from streaming.errors import StreamClosed, StreamingError
from streaming.events import Event, Final, Partial, RoomAvailable

MAX_EVENTS = 1000


@dataclass(frozen=True)
class SessionLimits:
    """Bounds of one session.

    idle_timeout_s: without any message before the session ends.
    send_timeout_s: for the client to make room for one message.
    max_outbox_bytes: results waiting to be sent.
    """

    idle_timeout_s: float = 10.0
    send_timeout_s: float = 20.0
    max_outbox_bytes: int = 1 << 20


class Session:
    """Runs one accepted socket; all but `post` belongs to the event loop."""

    def __init__(
        self,
        socket: WebSocket,
        protocol: ListenProtocol,
        limits: SessionLimits,
        clock: LatencyClock,
        on_final_text: Callable[[str], None] | None = None,
    ) -> None:
        self.error: BaseException | None = None
        self.close_code: int | None = None
        self._socket = socket
        self._protocol = protocol
        self._limits = limits
        self._clock = clock
        self._on_final_text = on_final_text
        self._outbox = Outbox(limits.max_outbox_bytes)
        self._loop = asyncio.get_running_loop()
        self._heard_at = self._loop.time()
        self._reading = True
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._feed: StreamFeed | None = None

    @property
    def audio_s(self) -> float:
        """Seconds of audio that arrived."""
        return self._clock.audio_s

    def post(self, event: Event) -> None:
        """Take an event on the engine's thread: the stream's sink."""
        with suppress(RuntimeError):  # the loop is closed: the server stopped before the engine
            self._loop.call_soon_threadsafe(self._queue, event)

    async def run(self, stream: StreamPort, accept: Callable[[], Awaitable[None]]) -> None:
        """Accept the socket and serve it until it is closed; the stream is freed in any case."""
        self._feed = StreamFeed(stream)
        try:
            await accept()
            await self._serve()
        finally:
            self._feed.stop()

    def drain(self) -> None:
        """End the session because the server stops; its last results still go out."""
        self._perform(self._protocol.drain())

    async def _serve(self) -> None:
        self._perform(self._protocol.opened())
        writer = asyncio.create_task(self._write())
        others = [asyncio.create_task(do()) for do in (self._read, self._listen, self._watch)]
        try:
            done, _ = await asyncio.wait([writer, *others], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if error := task.exception():
                    self._fail(error)
                    await writer
        finally:
            await _end([writer, *others])

    async def _read(self) -> None:
        """Client to stream; returns when the client is gone."""
        pace = ReadPace()
        while (message := await self._receive()) is not None:
            if isinstance(message, bytes):
                self._perform(self._protocol.receive_bytes(message))
            else:
                self._perform(self._protocol.receive_text(message))
            assert self._feed is not None
            self._reading = False
            await self._feed.wait_for_room()
            if delay_s := pace.delay_s(message, self._loop.time()):
                await asyncio.sleep(delay_s)
            self._reading = True
        self._perform(self._protocol.disconnect())

    async def _listen(self) -> None:
        """Engine to outbox; never returns."""
        while True:
            event = await self._events.get()
            if isinstance(event, RoomAvailable) and self._feed is not None:
                self._guarded(self._feed.resume)
            elif isinstance(event, Partial | Final):
                self._observe(event)
            self._perform(self._protocol.receive_event(event))

    async def _write(self) -> None:
        """Outbox to client; returns when the socket is closed."""
        with suppress(WebSocketDisconnect):  # the reader hears of it too
            while isinstance(item := await self._outbox.take(), str):
                await self._send(item)
            self._ended_with(item.code)
            await self._socket.close(item.code, item.reason)

    async def _send(self, text: str) -> None:
        limit_s = self._limits.send_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                await self._socket.send_text(text)
        except TimeoutError:
            self._fail(SlowReader(f"no result was read in {limit_s:g} s"))

    async def _watch(self) -> None:
        """Fail a session that has been idle too long; never returns.

        One timer that looks now and then is cheaper than one for every message.
        """
        limit_s = self._limits.idle_timeout_s
        while True:
            await asyncio.sleep(self._heard_at + limit_s - self._loop.time())
            if not self._reading:
                self._heard_at = self._loop.time()  # the client is not idle: it is held up by us
            elif self._loop.time() >= self._heard_at + limit_s:
                if self._protocol.state is State.OPEN:
                    self._fail(IdleSession(f"no audio and no KeepAlive for {limit_s:g} s"))
                self._heard_at = self._loop.time()

    async def _receive(self) -> bytes | str | None:
        """The client's next message, None when it is gone."""
        message = await self._socket.receive()
        self._heard_at = self._loop.time()
        if message["type"] == "websocket.disconnect":
            self._ended_with(message["code"])
            return None
        data: bytes | None = message.get("bytes")
        text: str = message.get("text") or ""
        return text if data is None else data

    def _ended_with(self, code: int) -> None:
        """Ours, the client's, or of a frame that the socket library refused: the first counts."""
        if self.close_code is None:
            self.close_code = code

    def _queue(self, event: Event) -> None:
        # Its reader never waits for the client: only a loop that stands still fills it.
        if self._events.qsize() < MAX_EVENTS:
            self._events.put_nowait(event)
        elif self.error is None:
            self._fail(SlowReader(f"{MAX_EVENTS} events of the engine are waiting"))

    def _observe(self, event: Partial | Final) -> None:
        self._clock.result(event)
        if isinstance(event, Final) and self._on_final_text is not None and event.alternatives:
            self._on_final_text(event.alternatives[0].text)

    def _perform(self, actions: Iterable[Action]) -> None:
        for action in actions:
            self._guarded(self._do, action)

    def _guarded(self, do: Callable[..., None], *arguments: Action) -> None:
        try:
            do(*arguments)
        except StreamClosed:
            pass  # the stream ended under us: its Closed or Failed event says why
        except (StreamingError, SlowReader) as error:
            self._fail(error)

    def _do(self, action: Action) -> None:
        assert self._feed is not None
        match action:
            case Send():
                self._outbox.put(action)
            case Close():
                self._outbox.close(action)
            case CancelStream():
                self._feed.stop()
            case _:
                self._note(action)
                self._feed.do(action)

    def _note(self, action: StreamAction) -> None:
        match action:
            case PushAudio(samples):
                self._clock.audio_arrived(len(samples))
            case FinalizeStream() | FinishStream():
                self._clock.final_asked()

    def _fail(self, error: BaseException) -> None:
        self.error = self.error or error
        if isinstance(error, SlowReader):
            self._outbox.abandon()
        for action in self._protocol.fail(error):
            if isinstance(action, Send):
                self._outbox.put(action, last=True)
            else:
                self._do(action)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
