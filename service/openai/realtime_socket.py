"""GET /v1/realtime as a WebSocket: sessions of transcription."""

from fastapi import APIRouter
from starlette.websockets import WebSocket

from earshot.service.core.services import services_of
from earshot.service.http.request_id import request_id_of
from earshot.service.openai.known_names import OPENAIS
from earshot.service.openai.realtime_conversation import RealtimeConversation
from earshot.service.openai.refusal_answer import REQUEST_ID, refusal_answer
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.live_session import let_in, new_session, serve_session

router = APIRouter()

_SUBPROTOCOL = "realtime"
"""That browsers offer beside their key, which is not looked at."""


@router.websocket("/v1/realtime")
async def realtime(socket: WebSocket) -> None:
    """Serve one session; what it is to do comes on the open socket."""
    services, request_id = services_of(socket), request_id_of(socket.scope)
    if not await let_in(socket, services, request_id, refusal_answer):
        return
    rules = ParameterRules.of(services.settings, services.model, OPENAIS)
    conversation = RealtimeConversation(rules, services.engine.sample_rate_hz, request_id)
    session = new_session(socket, services, conversation, request_id, text_is_audio=True)
    await serve_session(session, [], services, request_id, lambda: _accept(socket, request_id))


async def _accept(socket: WebSocket, request_id: str) -> None:
    offered = socket.scope.get("subprotocols", [])
    chosen = _SUBPROTOCOL if _SUBPROTOCOL in offered else None
    await socket.accept(chosen, [(REQUEST_ID.encode(), request_id.encode())])
