"""A real server around a scripted engine on a free port."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
import pytest
import structlog
from recorded_streams import STREAMS
from scripted_engine import RATE, ScriptedEngine
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

MODEL = ServedModel("scripted", "1", "fake", "00000000-0000-0000-0000-000000000000", ("en",))


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
def served() -> ServedModel:
    """The model as clients are told of it."""
    return MODEL


@pytest.fixture
def serve(engine: ScriptedEngine, served: ServedModel) -> Callable[..., object]:
    """A context manager that runs a server with the settings given, and other dialects."""

    @asynccontextmanager
    async def running(
        dialects: Sequence[Dialect] = DIALECTS, **settings: object
    ) -> AsyncIterator[LiveServer]:
        engine.loop = asyncio.get_running_loop()
        services = Services.build(engine, served, Settings(**{"drain_s": 0, **settings}), Metrics())
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


@pytest.fixture(params=sorted(STREAMS))
def recorded_kind(request: pytest.FixtureRequest) -> str:
    """Each kind of container that a recorder may send."""
    kind: str = request.param
    return kind


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
