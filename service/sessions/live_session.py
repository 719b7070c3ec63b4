"""One live socket in whichever protocol: a session with the server's limits, counted and logged."""

import time
from collections.abc import Awaitable, Callable, Sequence

from starlette.responses import Response
from starlette.websockets import WebSocket

from earshot.service.core.engine_port import StreamPort
from earshot.service.core.services import Services
from earshot.service.errors import ServiceError
from earshot.service.http.live_socket import reading_rests_of
from earshot.service.http.origin import check_origin
from earshot.service.http.read_pace import AUDIO_CHARACTER_S, CHARACTER_S
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_log import log
from earshot.service.outcomes import outcome_of
from earshot.service.sessions.conversation import Conversation
from earshot.service.sessions.latency_clock import LatencyClock
from earshot.service.sessions.session import Session, SessionLimits, SessionSocket
from earshot.streaming.errors import StreamingError


def new_session(
    socket: SessionSocket,
    services: Services,
    conversation: Conversation,
    request_id: str,
    *,
    channels: int = 1,
    pause_ms: int | None = None,
    text_is_audio: bool = False,
) -> Session:
    """A session, not yet served.

    pause_ms: the pause that ends an utterance, not counted as lag; a conversation that opens its
        streams by `Open` says it there.
    text_is_audio: whether text messages are audio in base64, and read at audio's pace.
    """
    settings, rate_hz = services.settings, services.engine.sample_rate_hz
    pause_s = (pause_ms or 0) / 1000
    return Session(
        socket,
        conversation,
        SessionLimits(
            idle_timeout_s=settings.idle_timeout_s,
            send_timeout_s=settings.send_timeout_s,
            max_outbox_bytes=settings.max_outbox_bytes,
            character_s=AUDIO_CHARACTER_S if text_is_audio else CHARACTER_S,
        ),
        [LatencyClock(services.metrics, rate_hz, pause_s) for _ in range(channels)],
        _text_logger(request_id) if settings.log_text else None,
        reading_rests_of(socket.scope) if isinstance(socket, WebSocket) else lambda: False,
        None if services.traces is None else services.traces.begin(request_id),
        lambda config, sinks: services.admission.open_live(config, sinks, request_id),
    )


async def let_in(
    socket: WebSocket, services: Services, request_id: str, refuse: Callable[[Refusal], Response]
) -> bool:
    """Whether a socket may be taken whose streams are opened later; else it is refused.

    refuse: words the refusal.
    """
    try:
        services.admission.check()
        check_origin(socket.headers, services.settings.allowed_origins)
    except ServiceError as error:
        await socket.send_denial_response(refuse(note_refusal(services, request_id, error)))
        return False
    return True


async def serve_session(
    session: Session,
    streams: Sequence[StreamPort],
    services: Services,
    request_id: str,
    accept: Callable[[], Awaitable[None]],
) -> None:
    """Serve it until its socket is closed. ``accept`` takes the handshake as the protocol does."""
    with services.work.doing(session):
        started_at = time.monotonic()
        services.metrics.sessions.inc()
        log.info("session_opened", request_id=request_id)
        with services.metrics.live_sessions.track_inprogress():
            await session.run(streams, accept)
        _note_end(session, services, request_id, time.monotonic() - started_at)


def note_refusal(services: Services, request_id: str, error: Exception) -> Refusal:
    """Count and log a socket that is not served; returns what its client is told."""
    refusal = Refusal.of(error, request_id)
    services.metrics.rejects.labels(refusal.code).inc()
    log.info("socket_refused", **refusal.logged)
    return refusal


def _note_end(session: Session, services: Services, request_id: str, duration_s: float) -> None:
    services.metrics.audio_s.labels("live").inc(session.audio_s)
    if session.error is not None:
        services.metrics.errors.labels(outcome_of(session.error).err_code).inc()
        if not isinstance(session.error, ServiceError | StreamingError):
            log.error("session_broke", request_id=request_id, exc_info=session.error)
    log.info(
        "session_closed",
        request_id=request_id,
        duration_s=round(duration_s, 3),
        audio_s=round(session.audio_s, 3),
        finals=sum(clock.finals for clock in session.clocks),
        late_finals=sum(clock.late_finals for clock in session.clocks),
        worst_lag_s=round(max(clock.worst_lag_s for clock in session.clocks), 3),
        close_code=session.close_code,
        error=None if session.error is None else repr(session.error),
    )


def _text_logger(request_id: str) -> Callable[[str], None]:
    return lambda text: log.info("final_text", request_id=request_id, text=text)
