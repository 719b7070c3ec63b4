"""GET /v1/listen as a WebSocket: admit, accept, serve."""

from fastapi import APIRouter
from starlette.websockets import WebSocket

from earshot.service.core.engine_port import StreamPort
from earshot.service.core.services import Services, services_of
from earshot.service.deepgram.known_names import DEEPGRAMS
from earshot.service.deepgram.listen_protocol import ListenProtocol
from earshot.service.deepgram.response.refusal_answer import refusal_answer
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.errors import ServiceError
from earshot.service.http.origin import check_origin
from earshot.service.http.request_id import request_id_of
from earshot.service.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)
from earshot.service.sessions.live_session import new_session, note_refusal, serve_session
from earshot.service.sessions.session import Session
from earshot.streaming.errors import StreamingError

router = APIRouter()

_AUTH_SUBPROTOCOLS = ("token", "bearer")


@router.websocket("/v1/listen")
async def listen(socket: WebSocket) -> None:
    """Serve one live stream; a request that cannot be served is refused before it is accepted."""
    services, request_id = services_of(socket), request_id_of(socket.scope)
    try:
        session, streams = _admit(socket, services, request_id)
    except (ServiceError, StreamingError) as error:
        refusal = note_refusal(services, request_id, error)
        await socket.send_denial_response(refusal_answer(refusal))
        return
    await serve_session(session, streams, services, request_id, lambda: _accept(socket, request_id))


def _admit(
    socket: WebSocket, services: Services, request_id: str
) -> tuple[Session, list[StreamPort]]:
    services.admission.check_ready()
    check_origin(socket.headers, services.settings.allowed_origins)
    rules = ParameterRules.of(services.settings, services.model, DEEPGRAMS)
    parameters = parse_parameters(socket.query_params.multi_items(), rules, is_file=False)
    session = new_session(
        socket,
        services,
        _conversation(services, parameters, rules, request_id),
        request_id,
        channels=parameters.channels_apart or 1,
        pause_ms=parameters.stream.pause_ms,
    )
    return session, services.admission.open_live(parameters.stream, session.sinks, request_id)


def _conversation(
    services: Services, parameters: ListenParameters, rules: ParameterRules, request_id: str
) -> ListenProtocol:
    channels = parameters.channels_apart or 1
    messages = ResultMessages(
        request_id, services.model, writing=parameters.writing, channels=channels
    )
    return ListenProtocol(messages, parameters, rules.boosts, services.engine.sample_rate_hz)


async def _accept(socket: WebSocket, request_id: str) -> None:
    """Echo an offered authentication subprotocol: browsers insist. Its key is not looked at."""
    offered = socket.scope.get("subprotocols", [])
    chosen = next((name for name in offered if name.lower() in _AUTH_SUBPROTOCOLS), None)
    await socket.accept(chosen, [(b"dg-request-id", request_id.encode())])
