"""One live socket in whichever protocol: a session with the server's limits, counted and logged."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from starlette.responses import Response
from starlette.websockets import WebSocket

from earshot.service.core.engine_port import StreamPort
from earshot.service.core.services import Services, services_of
from earshot.service.errors import ServiceError
from earshot.service.http.live_socket import reading_rests_of
from earshot.service.http.origin import check_origin
from earshot.service.http.read_pace import AUDIO_CHARACTER_S, CHARACTER_S
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_id import request_id_of
from earshot.service.http.request_log import log
from earshot.service.outcomes import outcome_of
from earshot.service.sessions.conversation import Conversation
from earshot.service.sessions.latency_clock import LatencyClock
from earshot.service.sessions.session import Session, SessionLimits, SessionSocket
from earshot.streaming.errors import StreamingError
from earshot.streaming.stream_config import StreamConfig


def new_session(
    socket: SessionSocket,
    services: Services,
    conversation: Conversation,
    request_id: str,
    *,
    channels: int = 1,
    text_is_audio: bool = False,
) -> Session:
    """A session, not yet served.

    text_is_audio: whether text messages are audio in base64, and read at audio's pace.
    """
    settings, rate_hz = services.settings, services.engine.sample_rate_hz
    return Session(
        socket,
        conversation,
        SessionLimits(
            idle_timeout_s=settings.idle_timeout_s,
            send_timeout_s=settings.send_timeout_s,
            max_outbox_bytes=settings.max_outbox_bytes,
            character_s=AUDIO_CHARACTER_S if text_is_audio else CHARACTER_S,
        ),
        [LatencyClock(services.metrics, rate_hz) for _ in range(channels)],
        _text_logger(request_id) if settings.log_text else None,
        reading_rests_of(socket.scope) if isinstance(socket, WebSocket) else lambda: False,
        None if services.traces is None else services.traces.begin(request_id),
        lambda config, sinks: services.admission.open_live(config, sinks, request_id),
        services.unpackers.open,
    )


Streams: TypeAlias = Sequence[StreamPort]
Admit: TypeAlias = Callable[[WebSocket, Services, str], tuple[Session, Streams]]
"""Makes the session of a socket with this request id, and its streams unless it opens them itself.

Raises ServiceError or StreamingError where it is not to be served.
"""


async def serve_socket(
    socket: WebSocket,
    admit: Admit,
    refuse: Callable[[Refusal], Response],
    accept: Callable[[WebSocket, str], Awaitable[None]],
) -> None:
    """Serve a socket, or refuse it before it is accepted, in the words of ``refuse``.

    ``accept`` takes the handshake as the protocol does.
    """
    services, request_id = services_of(socket), request_id_of(socket.scope)
    try:
        session, streams = admit(socket, services, request_id)
    except (ServiceError, StreamingError) as error:
        await socket.send_denial_response(refuse(_note_refusal(services, request_id, error)))
        return
    await serve_session(session, streams, services, request_id, lambda: accept(socket, request_id))


def check_origin_and_readiness(socket: WebSocket, services: Services) -> None:
    """Raise NotReady or OriginRefused for a socket that is not to be looked at further."""
    services.admission.check_ready()
    check_origin(socket.headers, services.settings.allowed_origins)


def opened_session(
    socket: WebSocket,
    services: Services,
    conversation: Conversation,
    request_id: str,
    config: StreamConfig,
    channels: int = 1,
) -> tuple[Session, Streams]:
    """A session with streams that are open before its socket is. Raises NotReady or Busy."""
    session = new_session(socket, services, conversation, request_id, channels=channels)
    return session, services.admission.open_live(config, session.sinks, request_id)


async def serve_session(
    session: Session,
    streams: Sequence[StreamPort],
    services: Services,
    request_id: str,
    accept: Callable[[], Awaitable[None]],
) -> None:
    """Serve it until its socket is closed; ``accept`` takes the handshake."""
    with services.work.doing(session):
        started_at = time.monotonic()
        services.metrics.sessions.inc()
        log.info("session_opened", request_id=request_id)
        with services.metrics.live_sessions.track_inprogress():
            await session.run(streams, accept)
        _note_end(session, services, request_id, time.monotonic() - started_at)


def _note_refusal(services: Services, request_id: str, error: Exception) -> Refusal:
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
