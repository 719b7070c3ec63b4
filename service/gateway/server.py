"""The server process: uvicorn with a drain that lets live streams finish."""

import asyncio
import socket
from collections.abc import Sequence
from types import FrameType
from typing import Protocol

import uvicorn
from fastapi import FastAPI

from earshot.service.core.services import Services
from earshot.service.errors import StartupError
from earshot.service.gateway.connections import MAX_HEADER_BYTES, http_class
from earshot.service.http.live_socket import live_socket_class
from earshot.service.http.request_log import log
from earshot.service.settings import Settings

LAST_RESPONSES_S = 2.0
"""For responses still on their way when the drain is over."""


def bind(host: str, port: int) -> socket.socket:
    """Return a bound socket, so that a taken port is known before a model is loaded.

    Raises:
        StartupError: the address cannot be had; the message says why.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise StartupError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return bound


class OtherPort(Protocol):
    """A port of a protocol that is not HTTP; its sessions are the server's work like others."""

    async def start(self) -> None:
        """Listen."""

    def stop(self) -> None:
        """Take no more connections."""


class Server(uvicorn.Server):
    """On the first signal drains, on the second stops at once; an engine that fails ends it too.

    engine_failed: the engine stopped before the server did; nobody else can be served.
    """

    def __init__(
        self, app: FastAPI, services: Services, other_ports: Sequence[OtherPort] = ()
    ) -> None:
        """other_ports: those that are served beside it."""
        super().__init__(_uvicorn_config(app, services.settings))
        self._other_ports = other_ports
        self._services = services
        self.engine_failed = False
        self.listening = asyncio.Event()
        self.draining = asyncio.Event()
        self._forced = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say where."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        for other in self._other_ports:
            await other.start()
        for bound in sockets or []:
            host, port = bound.getsockname()[:2]
            log.info("listening", host=host, port=port)
        self.listening.set()

    async def on_tick(self, counter: int) -> bool:
        """Look ten times a second whether to stop: because of a signal, or without an engine."""
        self._look_at_engine()
        return self.engine_failed or await super().on_tick(counter)

    def _look_at_engine(self) -> None:
        if not self.engine_failed and not self._services.engine.running:
            self.engine_failed = True
            log.critical("engine_failed", live=len(self._services.work))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Refuse what is new, finish what is live, then close as uvicorn does."""
        services = self._services
        services.admission.draining = True
        self.draining.set()
        for other in self._other_ports:
            other.stop()
        # Without an engine sessions end by themselves; what does not is not worth waiting for.
        drain_s = 0.0 if self.engine_failed else services.settings.drain_s
        log.info("draining", live=len(services.work), drain_s=drain_s)
        drained = asyncio.ensure_future(services.work.drain(drain_s))
        forced = asyncio.ensure_future(self._forced.wait())
        await asyncio.wait([drained, forced], return_when=asyncio.FIRST_COMPLETED)
        for waiter in (drained, forced):
            waiter.cancel()
        self._look_at_engine()
        log.info("stopping", live=len(services.work), forced=self._forced.is_set())
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Count signals; uvicorn would raise them again at the end and spoil the exit status."""
        if self.should_exit and self._loop is not None:
            self.force_exit = True
            self._loop.call_soon_threadsafe(self._forced.set)
        self.should_exit = True


def _uvicorn_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=http_class(settings.header_timeout_s, app.state.dialects),
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        ws=live_socket_class(settings.max_outbox_bytes, app.state.dialects),
        ws_max_size=settings.max_message_bytes,
        # Speech does not deflate, and a deflater holds memory for every socket.
        ws_per_message_deflate=False,
        # Pings keep middle boxes from forgetting the connection. A pong may be late behind audio we
        # do not read yet, so silence is judged by the session's own idle limit.
        ws_ping_interval=20.0,
        ws_ping_timeout=None,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(LAST_RESPONSES_S),
    )
