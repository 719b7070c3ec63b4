"""GET /v1/listen as a WebSocket: admit, accept, serve, log."""

import time
from collections.abc import Callable, Sequence

from fastapi import APIRouter
from starlette.websockets import WebSocket

from earshot.service.core.engine_port import StreamPort
from earshot.service.core.latency_clock import LatencyClock
from earshot.service.core.services import Services, services_of
from earshot.service.core.session import Session, SessionLimits
from earshot.service.deepgram.listen_protocol import ListenProtocol
from earshot.service.deepgram.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)
from earshot.service.deepgram.response.refusal_answer import refusal_answer
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.errors import ServiceError
from earshot.service.http.live_socket import reading_rests_of
from earshot.service.http.origin import check_origin
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_id import request_id_of
from earshot.service.http.request_log import log
from earshot.service.outcomes import outcome_of
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
        refusal = Refusal.of(error, request_id)
        services.metrics.rejects.labels(refusal.code).inc()
        log.info("socket_refused", **refusal.logged)
        await socket.send_denial_response(refusal_answer(refusal))
        return
    with services.work.doing(session):
        await _serve(socket, session, streams, services, request_id)


def _admit(
    socket: WebSocket, services: Services, request_id: str
) -> tuple[Session, list[StreamPort]]:
    services.admission.check_ready()
    check_origin(socket.headers, services.settings.allowed_origins)
    rules = ParameterRules.of(services.settings, services.model)
    parameters = parse_parameters(socket.query_params.multi_items(), rules, is_file=False)
    session = _session(socket, services, parameters, rules, request_id)
    return session, services.admission.open_live(parameters.stream, session.sinks, request_id)


def _session(
    socket: WebSocket,
    services: Services,
    parameters: ListenParameters,
    rules: ParameterRules,
    request_id: str,
) -> Session:
    settings, rate_hz = services.settings, services.engine.sample_rate_hz
    channels, pause_s = parameters.channels_apart or 1, (parameters.stream.pause_ms or 0) / 1000
    messages = ResultMessages(
        request_id, services.model, writing=parameters.writing, channels=channels
    )
    return Session(
        socket,
        ListenProtocol(messages, parameters, rules.boosts, rate_hz),
        SessionLimits(
            idle_timeout_s=settings.idle_timeout_s,
            send_timeout_s=settings.send_timeout_s,
            max_outbox_bytes=settings.max_outbox_bytes,
        ),
        [LatencyClock(services.metrics, rate_hz, pause_s) for _ in range(channels)],
        _text_logger(request_id) if settings.log_text else None,
        reading_rests_of(socket.scope),
        None if services.traces is None else services.traces.begin(request_id),
    )


async def _serve(
    socket: WebSocket,
    session: Session,
    streams: Sequence[StreamPort],
    services: Services,
    request_id: str,
) -> None:
    started_at = time.monotonic()
    services.metrics.sessions.inc()
    log.info("session_opened", request_id=request_id)
    with services.metrics.live_sessions.track_inprogress():
        await session.run(streams, lambda: _accept(socket, request_id))
    services.metrics.audio_s.labels("live").inc(session.audio_s)
    if session.error is not None:
        services.metrics.errors.labels(outcome_of(session.error).err_code).inc()
        if not isinstance(session.error, ServiceError | StreamingError):
            log.error("session_broke", request_id=request_id, exc_info=session.error)
    log.info(
        "session_closed",
        request_id=request_id,
        duration_s=round(time.monotonic() - started_at, 3),
        audio_s=round(session.audio_s, 3),
        finals=sum(clock.finals for clock in session.clocks),
        late_finals=sum(clock.late_finals for clock in session.clocks),
        worst_lag_s=round(max(clock.worst_lag_s for clock in session.clocks), 3),
        close_code=session.close_code,
        error=None if session.error is None else repr(session.error),
    )


async def _accept(socket: WebSocket, request_id: str) -> None:
    """Echo an offered authentication subprotocol: browsers insist. Its key is not looked at."""
    offered = socket.scope.get("subprotocols", [])
    chosen = next((name for name in offered if name.lower() in _AUTH_SUBPROTOCOLS), None)
    await socket.accept(chosen, [(b"dg-request-id", request_id.encode())])


def _text_logger(request_id: str) -> Callable[[str], None]:
    return lambda text: log.info("final_text", request_id=request_id, text=text)
