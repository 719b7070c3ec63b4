"""What no route foresaw, answered like every other error."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earshot.service.http.refusals import refusal
from earshot.service.http.request_id import new_request_id
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
            request_id = new_request_id()
            log.error("request_broke", request_id=request_id, path=scope["path"], exc_info=error)
            await refusal(error, request_id)(scope, receive, send)
