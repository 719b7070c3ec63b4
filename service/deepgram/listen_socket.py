"""GET /v1/listen as a WebSocket: admit, accept, serve."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.websockets import WebSocket

from earshot.service.core.engine_port import StreamPort
from earshot.service.core.services import Services
from earshot.service.deepgram.known_names import DEEPGRAMS
from earshot.service.deepgram.listen_protocol import ListenProtocol
from earshot.service.deepgram.response.accepted import accept
from earshot.service.deepgram.response.refusal_answer import refusal_answer
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)
from earshot.service.sessions.live_session import (
    check_origin_and_readiness,
    opened_session,
    serve_socket,
)
from earshot.service.sessions.session import Session

router = APIRouter()


@router.websocket("/v1/listen")
async def listen(socket: WebSocket) -> None:
    """Serve one live stream; a request that cannot be served is refused before it is accepted."""
    await serve_socket(socket, _admit, refusal_answer, accept)


def _admit(
    socket: WebSocket, services: Services, request_id: str
) -> tuple[Session, Sequence[StreamPort]]:
    check_origin_and_readiness(socket, services)
    rules = ParameterRules.of(services.settings, services.model, DEEPGRAMS)
    parameters = parse_parameters(socket.query_params.multi_items(), rules, is_file=False)
    conversation = _conversation(services, parameters, rules, request_id)
    channels = parameters.channels_apart or 1
    return opened_session(socket, services, conversation, request_id, parameters.stream, channels)


def _conversation(
    services: Services, parameters: ListenParameters, rules: ParameterRules, request_id: str
) -> ListenProtocol:
    channels = parameters.channels_apart or 1
    messages = ResultMessages(
        request_id, services.model, writing=parameters.writing, channels=channels
    )
    return ListenProtocol(messages, parameters, rules.boosts, services.engine.sample_rate_hz)
