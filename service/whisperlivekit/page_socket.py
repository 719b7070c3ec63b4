"""GET /asr as a WebSocket, where WhisperLiveKit's page connects."""

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket

from earshot.service.core.engine_port import StreamPort
from earshot.service.core.services import Services, services_of
from earshot.service.errors import BadRequest, ServiceError
from earshot.service.http.origin import check_origin
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_id import request_id_of
from earshot.service.request.parameters import ParameterRules, parse_parameters
from earshot.service.sessions.live_session import new_session, note_refusal, serve_session
from earshot.service.sessions.session import Session
from earshot.service.whisperlivekit.page_conversation import PageConversation
from earshot.streaming.errors import StreamingError

router = APIRouter()

_SAMPLES = [("encoding", "linear16"), ("sample_rate", "16000"), ("interim_results", "true")]
_REFUSED = {
    "target_language": "nothing is translated here",
    "mode": "only the mode full is served, which has all lines in each message",
}
_AS_SERVED = {"mode": "full"}


@router.websocket("/asr")
async def listen(socket: WebSocket) -> None:
    """Serve one live stream; a request that cannot be served is refused before it is accepted."""
    services, request_id = services_of(socket), request_id_of(socket.scope)
    try:
        session, streams = _admit(socket, services, request_id)
    except (ServiceError, StreamingError) as error:
        refusal = note_refusal(services, request_id, error)
        await socket.send_denial_response(refusal_answer(refusal))
        return
    await serve_session(session, streams, services, request_id, socket.accept)


def refusal_answer(refusal: Refusal) -> Response:
    """The refusal in FastAPI's words."""
    return JSONResponse({"detail": refusal.message}, refusal.status, refusal.headers)


def _admit(
    socket: WebSocket, services: Services, request_id: str
) -> tuple[Session, list[StreamPort]]:
    services.admission.check_ready()
    check_origin(socket.headers, services.settings.allowed_origins)
    query = socket.query_params
    for name, why in _REFUSED.items():
        if query.get(name, "") not in ("", _AS_SERVED.get(name, "")):
            raise BadRequest(f"{name}={query[name]}: {why}")
    asked = query.get("language", "")
    language = [] if asked == "auto" else [("language", asked)]
    rules = ParameterRules.of(services.settings, services.model)
    parameters = parse_parameters([*_SAMPLES, *rules.as_written, *language], rules, is_file=False)
    conversation = PageConversation(parameters, services.engine.sample_rate_hz)
    pause_ms = parameters.stream.pause_ms
    session = new_session(socket, services, conversation, request_id, pause_ms=pause_ms)
    return session, services.admission.open_live(parameters.stream, session.sinks, request_id)
