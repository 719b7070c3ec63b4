"""What no route takes, refused in the shape of whoever owns the path."""

from http import HTTPStatus

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from earshot.service.http.dialect import refused
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_log import log

router = APIRouter()


async def unrouted(request: Request, error: Exception) -> Response:
    """Answer an unknown path, or another method than a path has."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    refusal = Refusal.unrouted(status, request.method, request.url.path, error.headers)
    return refused(request, refusal)


@router.websocket("/{path:path}")
async def socket_nowhere(socket: WebSocket) -> None:
    """Refuse a socket as plain HTTP is: Starlette alone would answer a bare 403."""
    refusal = Refusal.unrouted(HTTPStatus.NOT_FOUND, "GET", socket.url.path)
    log.info("socket_refused", request_id=refusal.request_id, code=refusal.code)
    await socket.send_denial_response(refused(socket, refusal))


async def nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse what not even the last route takes: a path without a slash, as of an absolute URI."""
    if scope["type"] != "websocket":
        raise HTTPException(HTTPStatus.NOT_FOUND)
    await socket_nowhere(WebSocket(scope, receive, send))
