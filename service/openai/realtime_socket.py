"""GET /v1/realtime as a WebSocket: sessions of transcription."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.websockets import WebSocket

from earshot.service.core.engine_port import StreamPort
from earshot.service.core.services import Services
from earshot.service.openai.known_names import OPENAIS
from earshot.service.openai.realtime_conversation import RealtimeConversation
from earshot.service.openai.refusal_answer import REQUEST_ID, refusal_answer
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.live_session import (
    check_origin_and_readiness,
    new_session,
    serve_socket,
)
from earshot.service.sessions.session import Session

router = APIRouter()

_SUBPROTOCOL = "realtime"
"""That browsers offer beside their key, which is not looked at."""


@router.websocket("/v1/realtime")
async def realtime(socket: WebSocket) -> None:
    """Serve one session; what it is to do comes on the open socket."""
    await serve_socket(socket, _admit, refusal_answer, _accept)


def _admit(
    socket: WebSocket, services: Services, request_id: str
) -> tuple[Session, Sequence[StreamPort]]:
    check_origin_and_readiness(socket, services)
    services.admission.check()
    rules = ParameterRules.of(services.settings, services.model, OPENAIS)
    conversation = RealtimeConversation(rules, services.engine.sample_rate_hz, request_id)
    return new_session(socket, services, conversation, request_id, text_is_audio=True), ()


async def _accept(socket: WebSocket, request_id: str) -> None:
    offered = socket.scope.get("subprotocols", [])
    chosen = _SUBPROTOCOL if _SUBPROTOCOL in offered else None
    await socket.accept(chosen, [(REQUEST_ID.encode(), request_id.encode())])
