"""The ASGI application."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from earshot.service.core.services import Services
from earshot.service.gateway import debug, nowhere, probes, root_socket
from earshot.service.gateway.dialects import DIALECTS
from earshot.service.gateway.last_resort import LastResort
from earshot.service.gateway.served_paths import ServedPaths
from earshot.service.gateway.web_files import add_web_files
from earshot.service.http.dialect import Dialect


def create_app(services: Services, dialects: Sequence[Dialect] = DIALECTS) -> FastAPI:
    """Build the application around a running engine; who started the engine stops it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        services.file_threads.shutdown(wait=False, cancel_futures=True)

    # The protocols are described in docs/protocol.md; a generated schema would say less.
    # A path that is none is refused: a redirect has no id, and sockets follow none.
    app = FastAPI(title="Earshot", lifespan=lifespan, openapi_url=None, redirect_slashes=False)
    app.router.default = nowhere.nowhere
    app.add_middleware(LastResort)  # inside the next, so that pages elsewhere may read it too
    readable = [name for dialect in dialects for name in dialect.readable_headers]
    app.add_middleware(
        CORSMiddleware,
        allow_origins=services.settings.allowed_origins,
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=[*readable, "retry-after"],
    )
    app.add_exception_handler(HTTPException, nowhere.unrouted)
    app.state.services, app.state.dialects = services, dialects
    for dialect in dialects:
        for router in dialect.routers:
            app.include_router(router)
    ours = [probes.router, root_socket.router, *([debug.router] if services.settings.debug else [])]
    for router in (*ours, nowhere.router):
        app.include_router(router)
    add_web_files(app)
    theirs = [router for dialect in dialects for router in dialect.routers]
    app.state.served_paths = ServedPaths([*theirs, *ours, app.router])
    return app
