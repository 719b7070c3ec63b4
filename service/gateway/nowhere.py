"""Requests that no route takes, refused in the shape of whoever owns the path."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from earshot.service.gateway.served_paths import ServedPaths
from earshot.service.http.dialect import refused
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_log import log

router = APIRouter()


async def unrouted(request: Request, error: Exception) -> Response:
    """Answer an unknown path, or another method than a path has."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    refusal = _refusal(request, status, request.method, error.headers)
    log.info("request_refused", **refusal.logged)
    return refused(request, refusal)


@router.websocket("/{path:path}")
async def socket_nowhere(socket: WebSocket) -> None:
    """Refuse a socket as plain HTTP is: Starlette alone would answer a bare 403."""
    refusal = _refusal(socket, HTTPStatus.NOT_FOUND, "GET")
    log.info("socket_refused", **refusal.logged)
    await socket.send_denial_response(refused(socket, refusal))


def _refusal(
    connection: HTTPConnection,
    status: HTTPStatus,
    method: str,
    headers: Mapping[str, str] | None = None,
) -> Refusal:
    """Name what is served: everywhere, or at a path that is asked by a wrong method."""
    served: ServedPaths = connection.app.state.served_paths
    path = connection.url.path
    instead = str(served) if status == HTTPStatus.NOT_FOUND else served.methods_of(path)
    return Refusal.unrouted(status, f"{method} {path}", instead, headers)


async def nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse what not even the last route takes: a path without a slash, as of an absolute URI."""
    if scope["type"] != "websocket":
        raise HTTPException(HTTPStatus.NOT_FOUND)
    await socket_nowhere(WebSocket(scope, receive, send))
