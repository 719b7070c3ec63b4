"""GET /asr as a WebSocket, where WhisperLiveKit's page connects."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket

from earshot.service.core.engine_port import StreamPort
from earshot.service.core.services import Services
from earshot.service.errors import BadRequest
from earshot.service.http.refusals import Refusal
from earshot.service.request.parameters import ParameterRules, parse_parameters
from earshot.service.sessions.live_session import (
    check_origin_and_readiness,
    opened_session,
    serve_socket,
)
from earshot.service.sessions.session import Session
from earshot.service.whisperlivekit.page_conversation import PageConversation

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
    await serve_socket(socket, _admit, refusal_answer, _accept)


def refusal_answer(refusal: Refusal) -> Response:
    """The refusal in FastAPI's words."""
    return JSONResponse({"detail": refusal.message}, refusal.status, refusal.headers)


def _admit(
    socket: WebSocket, services: Services, request_id: str
) -> tuple[Session, Sequence[StreamPort]]:
    check_origin_and_readiness(socket, services)
    query = socket.query_params
    for name, why in _REFUSED.items():
        if query.get(name, "") not in ("", _AS_SERVED.get(name, "")):
            raise BadRequest(f"{name}={query[name]}: {why}")
    asked = query.get("language", "")
    language = [] if asked == "auto" else [("language", asked)]
    rules = ParameterRules.of(services.settings, services.model)
    parameters = parse_parameters([*_SAMPLES, *rules.as_written, *language], rules, is_file=False)
    conversation = PageConversation(parameters, services.engine.sample_rate_hz)
    return opened_session(socket, services, conversation, request_id, parameters.stream)


async def _accept(socket: WebSocket, request_id: str) -> None:
    await socket.accept()
