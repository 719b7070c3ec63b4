"""Exceptions that no route foresaw, answered like every other error."""

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earshot.service.core.services import services_of
from earshot.service.http.dialect import refused
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_id import request_id_of
from earshot.service.http.request_log import log


class LastResort:
    """ASGI middleware around all routes, handshakes of sockets among them.

    An answer that has begun cannot be taken back: the server then ends the connection.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception as error:
            if begun or scope["type"] == "lifespan":
                raise
            await _refuse(error, scope, receive, send)


async def _refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    connection, refusal = HTTPConnection(scope), Refusal.of(error, request_id_of(scope))
    log.error("request_broke", request_id=refusal.request_id, path=scope["path"], exc_info=error)
    services_of(connection).metrics.rejects.labels(refusal.code).inc()
    await refused(connection, refusal)(scope, receive, send)
