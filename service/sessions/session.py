"""One WebSocket session: carries messages between the socket, the protocol and the streams.

A session has a stream for each channel that is heard by itself: one, unless several were asked for.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

from starlette.websockets import WebSocketDisconnect

from earshot.service.core.engine_port import Sink, StreamPort
from earshot.service.core.stream_trace import StreamTrace
from earshot.service.errors import IdleSession, ServiceError, SlowReader
from earshot.service.http.read_pace import CHARACTER_S, ReadPace
from earshot.service.sessions.actions import Action, Ask, Close, Open, Send, Unpack
from earshot.service.sessions.conversation import Conversation
from earshot.service.sessions.intake import Intake, OpenUnpacker
from earshot.service.sessions.latency_clock import LatencyClock
from earshot.service.sessions.outbox import Outbox
from earshot.service.sessions.stream_feed import StreamFeed
from earshot.streaming.errors import StreamClosed, StreamingError
from earshot.streaming.events import Event, Final, Partial, RoomAvailable
from earshot.streaming.requests import Request
from earshot.streaming.stream_config import StreamConfig

MAX_EVENTS = 1000
TIMER_SLACK_S = 1.0
"""A timer that comes later than that was held up: the process was paused, or very busy."""
READ_FIRST_S = 0.1
"""Before a client is called idle, for what lies in its socket's buffer."""


@dataclass(frozen=True)
class SessionLimits:
    """Bounds of one session.

    idle_timeout_s: without any message before the session ends.
    send_timeout_s: for the client to make room for one message.
    max_outbox_bytes: results waiting to be sent.
    character_s: seconds of reading that one character of text costs.
    """

    idle_timeout_s: float = 10.0
    send_timeout_s: float = 20.0
    max_outbox_bytes: int = 1 << 20
    character_s: float = CHARACTER_S


class SessionSocket(Protocol):
    """What a session needs of a WebSocket; other connections may look like one."""

    async def receive(self) -> Mapping[str, Any]:
        """The next message, as ASGI has it."""

    async def send_text(self, data: str) -> None:
        """Send a message."""

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        """End the connection."""


OpenStreams: TypeAlias = Callable[[StreamConfig, Sequence[Sink]], Sequence[StreamPort]]
"""Opens a stream for each sink; raises ServiceError or StreamingError."""


class Session:
    """Runs one accepted socket; all but `post` belongs to the event loop.

    clocks: one for each channel.
    """

    def __init__(
        self,
        socket: SessionSocket,
        protocol: Conversation,
        limits: SessionLimits,
        clocks: Sequence[LatencyClock],
        on_final_text: Callable[[str], None] | None = None,
        reading_rests: Callable[[], bool] = lambda: False,
        trace: StreamTrace | None = None,
        open_streams: OpenStreams | None = None,
        open_unpacker: OpenUnpacker | None = None,
    ) -> None:
        """trace: who is told of everything, if anybody.

        reading_rests: whether the socket is not read now, because of too many frames. open_streams:
        who is asked by `Open`, in protocols that have it. open_unpacker: who is asked where audio
        comes in a container.
        """
        self.error: BaseException | None = None
        self.close_code: int | None = None
        self._socket = socket
        self._protocol = protocol
        self._limits = limits
        self.clocks = clocks
        self._on_final_text = on_final_text
        self._reading_rests = reading_rests
        self._trace = trace
        self._open_streams = open_streams
        self._outbox = Outbox(limits.max_outbox_bytes)
        self._loop = asyncio.get_running_loop()
        self._heard_at = self._loop.time()
        self._reading = True
        self._events: asyncio.Queue[tuple[int, Event]] = asyncio.Queue()
        self._feeds: list[StreamFeed] = []
        self._intake = Intake(self._ask_streams, self._wait_for_streams, open_unpacker)

    @property
    def audio_s(self) -> float:
        """Seconds of audio that arrived, of all channels together."""
        return sum(clock.audio_s for clock in self.clocks)

    @property
    def sinks(self) -> list[Sink]:
        """Where the streams are to send their events, in the order of the channels."""
        return [partial(self.post, channel=channel) for channel in range(len(self.clocks))]

    def post(self, event: Event, channel: int = 0) -> None:
        """Take an event on the engine's thread."""
        with suppress(RuntimeError):  # the loop is closed: the server stopped before the engine
            self._loop.call_soon_threadsafe(self._queue, channel, event)

    async def run(
        self, streams: Sequence[StreamPort], accept: Callable[[], Awaitable[None]]
    ) -> None:
        """Accept the socket and serve it until it is closed; the streams are freed in any case.

        streams: none where the protocol is to ask for them.
        """
        if streams:
            self._take(streams)
        try:
            await accept()
            await self._serve()
        finally:
            self._intake.stop()
            for feed in self._feeds:
                feed.stop()

    def drain(self) -> None:
        """End the session because the server stops; its last results still go out."""
        self._perform(self._protocol.drain())

    def _take(self, streams: Sequence[StreamPort]) -> None:
        self._feeds = [StreamFeed(stream) for stream in streams]
        if self._trace is not None:
            self._trace.open(streams)

    async def _serve(self) -> None:
        self._perform(self._protocol.opened())
        writer = asyncio.create_task(self._write())
        doing = (self._read, self._listen, self._watch, self._intake.run)
        others = [asyncio.create_task(do()) for do in doing]
        try:
            done, _ = await asyncio.wait([writer, *others], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if error := task.exception():
                    self._fail(error)
                    self._outbox.close(Close.of(error))  # also where the protocol has said nothing
                    await writer
        finally:
            await _end([writer, *others])

    async def _read(self) -> None:
        """Client to stream; returns when the client is gone."""
        pace = ReadPace(self._limits.character_s)
        while (message := await self._receive()) is not None:
            if isinstance(message, bytes):
                self._perform(self._protocol.receive_bytes(message))
            else:
                self._perform(self._protocol.receive_text(message))
            self._reading = False
            await self._intake.wait_for_room()
            await self._wait_for_streams()
            if delay_s := pace.delay_s(message, self._loop.time()):
                await asyncio.sleep(delay_s)
            self._reading = True
        self._perform(self._protocol.disconnect())

    async def _listen(self) -> None:
        """Engine to outbox; never returns."""
        while True:
            channel, event = await self._events.get()
            if self._trace is not None:
                self._trace.heard(event, channel)
            if isinstance(event, RoomAvailable):
                self._guarded(self._feeds[channel].resume)
            elif isinstance(event, Partial | Final):
                self._observe(event, self.clocks[channel])
            self._perform(self._protocol.receive_event(event, channel))

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
        """End a session that has been idle too long; never returns.

        One timer that looks now and then is cheaper than one for every message. One that comes late
        proves nothing: this process has stood still, and what was sent meanwhile is yet to be read.
        """
        limit_s = self._limits.idle_timeout_s
        while True:
            due = self._heard_at + limit_s
            await asyncio.sleep(due - self._loop.time())
            stood_still = self._loop.time() > due + TIMER_SLACK_S
            await asyncio.sleep(READ_FIRST_S)
            if stood_still or not self._reading or self._reading_rests():
                self._heard_at = self._loop.time()  # the client is not idle: it is held up by us
            elif self._loop.time() >= self._heard_at + limit_s:
                if (awaited := self._protocol.awaits) is not None:
                    self._perform(self._protocol.idle(_idle(awaited, limit_s)))
                self._heard_at = self._loop.time()

    async def _receive(self) -> bytes | str | None:
        """The client's next message, None when it is gone."""
        message = await self._socket.receive()
        self._heard_at = self._loop.time()
        if message["type"] == "websocket.disconnect":
            self.error = self.error or message.get("error")
            self._ended_with(message["code"])
            return None
        data: bytes | None = message.get("bytes")
        text: str = message.get("text") or ""
        return text if data is None else data

    def _ended_with(self, code: int) -> None:
        """Ours, the client's, or of a frame that the socket library refused: the first counts."""
        if self.close_code is None:
            self.close_code = code

    def _queue(self, channel: int, event: Event) -> None:
        # Its reader never waits for the client: only a loop that stands still fills it.
        if self._events.qsize() < MAX_EVENTS:
            self._events.put_nowait((channel, event))
        elif self.error is None:
            self._fail(SlowReader(f"{MAX_EVENTS} events of the engine are waiting"))

    def _observe(self, event: Partial | Final, clock: LatencyClock) -> None:
        clock.result(event)
        if isinstance(event, Final) and self._on_final_text is not None and event.alternatives:
            self._on_final_text(event.alternatives[0].text)

    def _perform(self, actions: Iterable[Action]) -> None:
        for action in actions:
            self._guarded(self._do, action)

    def _guarded(self, do: Callable[..., None], *arguments: object) -> None:
        try:
            do(*arguments)
        except StreamClosed:
            pass  # the stream ended under us: its Closed or Failed event says why
        except (StreamingError, ServiceError) as error:
            self._fail(error)

    def _do(self, action: Action) -> None:
        match action:
            case Open(config):
                self._open(config)
            case Send():
                self._outbox.put(action)
            case Close():
                self.error = self.error or action.error
                self._outbox.close(action)
            case Unpack(packed):
                self._intake.unpack(packed)
            case Ask():
                self._intake.ask(action)

    def _open(self, config: StreamConfig) -> None:
        assert self._open_streams is not None, "this session's streams were opened before it"
        self._take(self._open_streams(config, self.sinks))

    async def _wait_for_streams(self) -> None:
        for feed in self._feeds:
            await feed.wait_for_room()

    def _ask_streams(self, ask: Ask) -> None:
        channels = range(len(self._feeds)) if ask.channel is None else (ask.channel,)
        for channel in channels:
            self._guarded(self._ask, ask.request, channel)  # where one has ended others go on

    def _ask(self, request: Request, channel: int) -> None:
        self.clocks[channel].asked(request)
        if self._trace is not None:
            self._trace.asked(request, channel)
        self._feeds[channel].ask(request)

    def _fail(self, error: BaseException) -> None:
        self.error = self.error or error
        if isinstance(error, SlowReader):
            self._outbox.abandon()
        for action in self._protocol.fail(error):
            if isinstance(action, Send):
                self._outbox.put(action, last=True)
            else:
                self._do(action)


def _idle(awaited: str, limit_s: float) -> IdleSession:
    return IdleSession(f"no {awaited} for {limit_s:g} s")


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
