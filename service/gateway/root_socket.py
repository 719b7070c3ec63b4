"""GET / as a WebSocket, where clients of protocols without a path connect."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.websockets import WebSocket

from earshot.service.core.engine_port import StreamPort
from earshot.service.core.services import Services
from earshot.service.gateway.dialects import ROOT_PROTOCOLS
from earshot.service.gateway.root_conversation import RootConversation
from earshot.service.http.dialect import refused
from earshot.service.sessions.live_session import (
    check_origin_and_readiness,
    new_session,
    serve_socket,
)
from earshot.service.sessions.session import Session

router = APIRouter()


@router.websocket("/")
async def converse(socket: WebSocket) -> None:
    """Serve one live stream, which is opened when its client has said what it wants."""
    await serve_socket(socket, _admit, lambda refusal: refused(socket, refusal), _accept)


def _admit(
    socket: WebSocket, services: Services, request_id: str
) -> tuple[Session, Sequence[StreamPort]]:
    check_origin_and_readiness(socket, services)
    services.admission.check()
    conversation = RootConversation(services, ROOT_PROTOCOLS)
    return new_session(socket, services, conversation, request_id), ()


async def _accept(socket: WebSocket, request_id: str) -> None:
    await socket.accept()
