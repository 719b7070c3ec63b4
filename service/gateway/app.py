"""The ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from earshot.service.core.services import Services
from earshot.service.deepgram import listen_file, listen_socket
from earshot.service.gateway import probes
from earshot.service.gateway.last_resort import LastResort
from earshot.service.gateway.web_files import add_web_files
from earshot.service.http.refusals import unrouted


def create_app(services: Services) -> FastAPI:
    """Build the application around a running engine; who started the engine stops it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        services.file_threads.shutdown(wait=False, cancel_futures=True)

    # The protocol is Deepgram's, described in docs/protocol.md; a generated schema would say less.
    # A path that is none is refused: a redirect has no id, and sockets follow none.
    app = FastAPI(title="Earshot", lifespan=lifespan, openapi_url=None, redirect_slashes=False)
    app.router.default = _nowhere
    app.add_middleware(LastResort)  # inside the next, so that pages elsewhere may read it too
    app.add_middleware(
        CORSMiddleware,
        allow_origins=services.settings.allowed_origins,
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=["dg-request-id", "dg-error", "dg-warning", "retry-after"],
    )
    app.add_exception_handler(HTTPException, unrouted)
    app.state.services = services
    for part in (listen_socket, listen_file, probes):
        app.include_router(part.router)
    add_web_files(app)
    return app


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse what not even the last route takes: a path without a slash, as of an absolute URI."""
    if scope["type"] != "websocket":
        raise HTTPException(HTTPStatus.NOT_FOUND)
    await listen_socket.listen_nowhere(WebSocket(scope, receive, send))
