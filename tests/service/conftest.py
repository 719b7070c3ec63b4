"""A scripted engine, and a real server around it on a free port."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import pytest
import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from earshot.service.core.metrics import Metrics
from earshot.service.core.services import Services
from earshot.service.gateway.app import create_app
from earshot.service.gateway.dialects import DIALECTS
from earshot.service.gateway.server import Server, bind
from earshot.service.http.dialect import Dialect
from earshot.service.served_model import ServedModel
from earshot.service.settings import Settings
from earshot.streaming.errors import (
    BacklogFull,
    EngineFull,
    EngineStopped,
    InvalidAudio,
    StreamClosed,
    StreamingError,
)
from earshot.streaming.events import (
    Alternative,
    Closed,
    Configured,
    Event,
    Failed,
    Final,
    FinalCause,
    NotConfigured,
    Partial,
    RoomAvailable,
    UnboostablePhrase,
    Word,
)
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.requests import Cancel, Configure, Flush, Push, Request
from earshot.streaming.samples import Samples
from earshot.streaming.stream_config import Boost, StreamConfig, StreamPriority
from earshot.streaming.stream_name import NAMELESS, StreamName
from earshot.streaming.weights import Weights

RATE = 16_000
MODEL = ServedModel("scripted", "1", "fake", "00000000-0000-0000-0000-000000000000", ("en",))


@dataclass
class ScriptedStream:
    """Hears one word per half second, named for how loud that half second is.

    So what it says depends on its own audio alone, and any mix-up of streams shows.
    """

    config: StreamConfig
    sink: Callable[[Event], None]
    engine: "ScriptedEngine"
    name: StreamName = NAMELESS
    words: list[Word] = field(default_factory=list)
    rest: Samples = field(default_factory=lambda: np.empty(0, np.float32))
    undecoded: Samples = field(default_factory=lambda: np.empty(0, np.float32))
    start_s: float = 0.0
    boosts: tuple[Boost, ...] = ()
    closed: bool = False
    cancelled: bool = False

    @property
    def heard_s(self) -> float:
        """Seconds decoded since the last final."""
        return len(self.words) / 2 + len(self.rest) / self.engine.sample_rate_hz

    @property
    def decoded_s(self) -> float:
        return self.start_s + self.heard_s

    def ask(self, request: Request) -> None:
        match request:
            case Push(samples):
                self.push(samples)
            case Flush(last=True):
                self.finish()
            case Flush():
                self.finalize()
            case Configure(boosts, graph, weights):
                self.configure(boosts, graph, weights)
            case Cancel():
                self.cancel()

    def push(self, samples: Samples) -> None:
        self._require_open()
        if not np.isfinite(samples).all():
            raise InvalidAudio("samples must be finite")
        room = self.engine.max_backlog_s * self.engine.sample_rate_hz
        if len(self.undecoded) + len(samples) > room:
            self.engine.signal(self.engine.full)
            raise BacklogFull("no room")
        self.undecoded = np.concatenate([self.undecoded, samples])
        if not self.engine.paused:
            self.decode()

    def decode(self) -> None:
        """Take all that was pushed into account."""
        known, half_s = len(self.words), self.engine.sample_rate_hz // 2
        audio = np.concatenate([self.rest, self.undecoded])
        self.undecoded = self.undecoded[:0]
        whole = len(audio) - len(audio) % half_s
        for half in audio[:whole].reshape(-1, half_s):
            self.words.append(self._word(half))
        self.rest = audio[whole:]
        if self.config.interim_results and len(self.words) > known:
            self.sink(Partial(self.start_s, self.heard_s, self._alternatives(), known))

    def _word(self, half: Samples) -> Word:
        start_s = self.start_s + len(self.words) / 2
        loudness = round(float(np.abs(half).mean()) * 100)
        return Word(f"w{loudness}", start_s, start_s + 0.5, 0.9)

    def finalize(self) -> None:
        self._require_open()
        self._final("finalize")

    def configure(
        self,
        boosts: Sequence[Boost],
        graph: GraphOptions | None = None,
        weights: Weights | None = None,
    ) -> None:
        self._require_open()
        if (graph, weights) != (self.config.graph, self.config.weights):
            self.sink(NotConfigured("there is no graph here"))
            return
        self.boosts = tuple(boosts)
        if self.engine.answers_configure:
            self.sink(Configured(tuple(_unboostable(boosts))))

    def finish(self) -> None:
        self._require_open()
        self.closed = True
        if not self.engine.paused:
            self.end()

    def end(self) -> None:
        """Give the last final."""
        self.decode()
        self._final("end")
        self.engine.streams.remove(self)
        self.sink(Closed(self.start_s))

    def cancel(self) -> None:
        if self in self.engine.streams:
            self.closed = self.cancelled = True
            self.engine.streams.remove(self)
            self.engine.signal(self.engine.freed)
            self.sink(Closed(self.decoded_s))

    def fail(self, error: StreamingError) -> None:
        """Break, as if decoding had raised."""
        self.closed = True
        self.engine.streams.remove(self)
        self.sink(Failed(error))

    def _require_open(self) -> None:
        if self.closed:
            raise StreamClosed("closed")

    def _final(self, cause: FinalCause) -> None:
        alternatives = self._alternatives()
        self.sink(
            Final(
                self.start_s,
                self.heard_s,
                alternatives * self.config.alternatives,
                speech_final=True,
                from_finalize=cause == "finalize",
                cause=cause,
            )
        )
        self.start_s += self.heard_s
        self.words, self.rest = [], self.rest[:0]

    def _alternatives(self) -> tuple[Alternative, ...]:
        words = tuple(self.words)
        return (Alternative(" ".join(word.text for word in words), words, 0.9, -1.0),)


def _unboostable(boosts: Sequence[Boost]) -> Iterator[UnboostablePhrase]:
    for boost in boosts:
        if any(char.isdigit() for char in boost.phrase):
            yield UnboostablePhrase(boost.phrase, "the model writes no digits")
        elif min(boost.phrase) >= "中":
            yield UnboostablePhrase(boost.phrase, "the model has no such letters")


@dataclass
class ScriptedEngine:
    """An engine that decodes in the caller's thread, unless `paused` holds the audio up."""

    max_streams: int = 4
    sample_rate_hz: int = RATE
    max_backlog_s: float = 10.0
    paused: bool = False
    running: bool = True
    late: bool = False
    answers_configure: bool = True
    loop: asyncio.AbstractEventLoop | None = None
    streams: list[ScriptedStream] = field(default_factory=list)
    opened: list[ScriptedStream] = field(default_factory=list)
    full: asyncio.Event = field(default_factory=asyncio.Event)
    freed: asyncio.Event = field(default_factory=asyncio.Event)

    def signal(self, event: asyncio.Event) -> None:
        """Set an event from whichever thread the stream is used on."""
        if self.loop is not None:
            self.loop.call_soon_threadsafe(event.set)

    @property
    def ready(self) -> bool:
        return self.running and not self.late

    def can_open(self) -> bool:
        return self.ready and len(self.streams) < self.max_streams

    def open(
        self,
        config: StreamConfig,
        sink: Callable[[Event], None],
        priority: StreamPriority = StreamPriority.LIVE,
        name: StreamName = NAMELESS,
    ) -> ScriptedStream:
        if not self.running:
            raise EngineStopped("stopped")
        if not self.can_open():
            raise EngineFull("full")
        stream = ScriptedStream(config, sink, self, name=name, boosts=config.boosts)
        self.streams.append(stream)
        self.opened.append(stream)
        for warning in _unboostable(config.boosts):
            sink(warning)
        return stream

    def die(self) -> None:
        """End as an engine does whose thread has: everybody is told, nobody gets in."""
        self.running = False
        for stream in list(self.streams):
            stream.fail(EngineStopped("the engine was stopped"))

    def resume(self) -> None:
        """Decode what was held up and say that there is room."""
        self.paused = False
        for stream in list(self.streams):
            stream.decode()
            stream.sink(RoomAvailable(self.max_backlog_s))
            if stream.closed:
                stream.end()


@dataclass
class LiveServer:
    """A server on a real port, and the ways to talk to it."""

    server: Server
    services: Services
    engine: ScriptedEngine
    port: int
    task: asyncio.Task[None]

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def ws(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def listen(self, query: str = "encoding=linear16&sample_rate=16000", **options: Any) -> connect:
        """Connect to /v1/listen; `headers` are the handshake's, other options the library's."""
        headers = options.pop("headers", None)
        return connect(
            f"{self.ws}/v1/listen?{query}", additional_headers=headers, proxy=None, **options
        )

    @asynccontextmanager
    async def raw(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A plain TCP connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield reader, writer
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def draining(self) -> None:
        """Return when the server has begun to drain."""
        await self.server.draining.wait()

    async def idle(self) -> None:
        """Return when nothing is being served."""
        assert await self.services.work.wait(60)

    def client(self) -> httpx.AsyncClient:
        """An HTTP client of this server."""
        return httpx.AsyncClient(base_url=self.http, timeout=60, trust_env=False)


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """Undo what a command did to the logs: it sends them to the stderr of its own test."""
    handlers, level = logging.root.handlers[:], logging.root.level
    # Tracebacks without the values of all variables: to print those takes seconds.
    plain = structlog.dev.ConsoleRenderer(
        colors=False, exception_formatter=structlog.dev.plain_traceback
    )
    structlog.configure(processors=[structlog.processors.add_log_level, plain])
    yield
    structlog.reset_defaults()
    logging.root.handlers[:], logging.root.level = handlers, level


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


@pytest.fixture
def serve(engine: ScriptedEngine) -> Callable[..., object]:
    """A context manager that runs a server with the settings given, and other dialects."""

    @asynccontextmanager
    async def running(
        dialects: Sequence[Dialect] = DIALECTS, **settings: object
    ) -> AsyncIterator[LiveServer]:
        engine.loop = asyncio.get_running_loop()
        services = Services.build(engine, MODEL, Settings(**{"drain_s": 0, **settings}), Metrics())
        server = Server(create_app(services, dialects), services)
        bound = bind("127.0.0.1", 0)
        task = asyncio.create_task(server.serve(sockets=[bound]))
        listening = asyncio.create_task(server.listening.wait())
        await asyncio.wait([listening, task], return_when=asyncio.FIRST_COMPLETED)
        assert not task.done(), task.exception()
        try:
            yield LiveServer(server, services, engine, bound.getsockname()[1], task)
        finally:
            server.should_exit = True
            async with asyncio.timeout(60):
                await task

    return running


@pytest.fixture
async def live(serve: Callable[..., object]) -> AsyncIterator[LiveServer]:
    """A server with the default settings, except that it drains at once."""
    async with serve() as server:
        yield server


@pytest.fixture
def tone() -> Callable[..., bytes]:
    """Make linear16 audio of a loudness, which the scripted engine hears as words."""

    def make(seconds: float, level: float = 0.5, rate: int = RATE) -> bytes:
        return np.full(round(seconds * rate), round(level * 32768), "<i2").tobytes()

    return make


@pytest.fixture
def read() -> Callable[[ClientConnection], Any]:
    """Read all messages of a socket until it closes."""

    async def until_closed(socket: ClientConnection) -> list[dict[str, Any]]:
        received = []
        with suppress(ConnectionClosed):
            while True:
                received.append(json.loads(await socket.recv()))
        return received

    return until_closed


@pytest.fixture
def text_of() -> Callable[[list[dict[str, Any]]], str]:
    """Join the finals of a socket's messages."""

    def join(messages: list[dict[str, Any]]) -> str:
        return " ".join(
            each["channel"]["alternatives"][0]["transcript"]
            for each in messages
            if each["type"] == "Results" and each["is_final"]
        )

    return join
