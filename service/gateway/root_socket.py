"""GET / as a WebSocket, where clients of protocols without a path connect."""

from fastapi import APIRouter
from starlette.websockets import WebSocket

from earshot.service.core.services import services_of
from earshot.service.gateway.dialects import ROOT_PROTOCOLS
from earshot.service.gateway.root_conversation import RootConversation
from earshot.service.http.dialect import refused
from earshot.service.http.request_id import request_id_of
from earshot.service.sessions.live_session import let_in, new_session, serve_session

router = APIRouter()


@router.websocket("/")
async def converse(socket: WebSocket) -> None:
    """Serve one live stream, which is opened when its client has said what it wants."""
    services, request_id = services_of(socket), request_id_of(socket.scope)
    if not await let_in(socket, services, request_id, lambda refusal: refused(socket, refusal)):
        return
    conversation = RootConversation(services, ROOT_PROTOCOLS)
    session = new_session(socket, services, conversation, request_id)
    await serve_session(session, [], services, request_id, socket.accept)
