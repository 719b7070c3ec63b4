"""GET /v2/listen as a WebSocket, where clients of Flux connect."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.websockets import WebSocket

from earshot.service.core.engine_port import StreamPort
from earshot.service.core.services import Services
from earshot.service.deepgram.flux.flux_conversation import FluxConversation
from earshot.service.deepgram.flux.flux_names import FLUXES
from earshot.service.deepgram.flux.flux_wishes import flux_parameters
from earshot.service.deepgram.response.accepted import accept
from earshot.service.deepgram.response.refusal_answer import refusal_answer
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.live_session import (
    check_origin_and_readiness,
    opened_session,
    serve_socket,
)
from earshot.service.sessions.session import Session

router = APIRouter()


@router.websocket("/v2/listen")
async def listen(socket: WebSocket) -> None:
    """Serve one live stream; a request that cannot be served is refused before it is accepted."""
    await serve_socket(socket, _admit, refusal_answer, accept)


def _admit(
    socket: WebSocket, services: Services, request_id: str
) -> tuple[Session, Sequence[StreamPort]]:
    check_origin_and_readiness(socket, services)
    rules = ParameterRules.of(services.settings, services.model, FLUXES)
    parameters, wishes = flux_parameters(socket.query_params.multi_items(), rules)
    rate_hz = services.engine.sample_rate_hz
    conversation = FluxConversation(parameters, wishes, rules.boosts, rate_hz, request_id)
    return opened_session(socket, services, conversation, request_id, parameters.stream)
