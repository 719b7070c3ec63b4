"""The port of Wyoming's clients, beside the server of HTTP."""

import asyncio
import socket
from contextlib import suppress

from earshot.service.core.services import Services
from earshot.service.http.request_id import new_request_id
from earshot.service.http.request_log import log
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.live_session import new_session, serve_session
from earshot.service.wyoming.event_socket import MAX_LINE_BYTES, EventSocket
from earshot.service.wyoming.wyoming_conversation import WyomingConversation
from earshot.service.wyoming.wyoming_info import info_of

MAX_CONNECTIONS = 1000
"""That are open at once; one that says nothing is closed by its session."""


class WyomingServer:
    """Serves a bound socket's connections, each by a session of its own."""

    def __init__(self, services: Services, bound: socket.socket) -> None:
        self._services = services
        self._bound = bound
        self._server: asyncio.Server | None = None
        self._open = 0

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(
            self._serve, sock=self._bound, limit=MAX_LINE_BYTES
        )
        host, port = self._bound.getsockname()[:2]
        log.info("listening", protocol="wyoming", host=host, port=port)

    def stop(self) -> None:
        """Take no more connections; those that there are end with the server's work."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        services, request_id = self._services, new_request_id()
        if self._open == MAX_CONNECTIONS or services.admission.draining:
            writer.close()
            return
        self._open += 1
        event_socket = EventSocket(reader, writer, services.settings.max_message_bytes)
        conversation = WyomingConversation(
            ParameterRules.of(services.settings, services.model),
            services.engine.sample_rate_hz,
            info_of(services.model),
        )
        session = new_session(event_socket, services, conversation, request_id)
        try:
            await serve_session(session, [], services, request_id, _accept)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()  # a client that does not read is cut off by then
            self._open -= 1


async def _accept() -> None:
    """A connection is taken as it is."""
