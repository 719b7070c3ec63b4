"""The one table from what went wrong to what clients are told, whatever protocol they speak.

The shape is the protocol's (`http/dialect.py`). Clients retry on 1006, 1011, 1012 and 1013 and give
up on 1008 and 1009: the codes follow that.
"""

from dataclasses import dataclass

from earshot.service import errors as edge
from earshot.streaming import errors as streaming

NORMAL_CLOSURE = 1000
SERVICE_RESTART = 1012
MAX_REASON_BYTES = 123  # RFC 6455 section 5.5: a control frame holds 125 bytes, 2 are the code


@dataclass(frozen=True)
class Outcome:
    """What a failure becomes: an HTTP answer, or on an open socket an Error and a close frame.

    err_code: what logs and metrics call it, and an answer where its shape has room for it.
    close_code, close_reason: of the close frame; the reason is followed by the message.
    """

    http_status: int
    err_code: str
    close_code: int
    close_reason: str


_INTERNAL = Outcome(500, "INTERNAL_SERVER_ERROR", 1011, "NET-0000")
_BAD_AUDIO = Outcome(400, "UNDECODABLE_AUDIO", 1008, "DATA-0000")
_TOO_LARGE = Outcome(413, "PAYLOAD_TOO_LARGE", 1009, "DATA-0001")
_UNAVAILABLE = Outcome(503, "SERVICE_UNAVAILABLE", SERVICE_RESTART, "NET-0003")
_BUSY = Outcome(429, "TOO_MANY_REQUESTS", 1013, "NET-0002")
_BAD_REQUEST = Outcome(400, "INVALID_QUERY_PARAMETER", 1008, "DATA-0002")

OUTCOMES: dict[type[Exception], Outcome] = {
    edge.BadRequest: _BAD_REQUEST,
    edge.BadPhrase: _BAD_REQUEST,
    edge.OriginRefused: Outcome(403, "ORIGIN_NOT_ALLOWED", 1008, "DATA-0003"),
    edge.Busy: _BUSY,
    edge.NoUnpacker: Outcome(429, "TOO_MANY_CONTAINERS", 1013, "NET-0002"),
    edge.NotReady: _UNAVAILABLE,
    edge.StorageFull: Outcome(507, "INSUFFICIENT_STORAGE", 1013, "NET-0002"),
    edge.UndecodableAudio: _BAD_AUDIO,
    edge.AudioTooLong: _TOO_LARGE,
    edge.BodyTooLarge: _TOO_LARGE,
    edge.UploadStalled: Outcome(408, "REQUEST_TIMEOUT", 1008, "NET-0001"),
    edge.IdleSession: Outcome(408, "REQUEST_TIMEOUT", 1011, "NET-0001"),
    edge.SlowReader: Outcome(408, "SLOW_READER", 1008, "NET-0004"),
    edge.DrainExpired: _UNAVAILABLE,
    streaming.EngineFull: _BUSY,
    streaming.EngineStopped: _UNAVAILABLE,
    streaming.InvalidAudio: _BAD_AUDIO,
    streaming.InvalidStreamConfig: _BAD_REQUEST,
    streaming.OutputNotFinite: _INTERNAL,
}


def outcome_of(error: BaseException) -> Outcome:
    """Look the error's class up, then its bases; what nobody expected is internal."""
    return _expected(error) or _INTERNAL


def public_message(error: BaseException) -> str:
    """Return the error's own words where they are written for clients, none of its insides else."""
    return "internal error" if _expected(error) is None else str(error)


def close_reason(error: BaseException) -> str:
    """Return the reason of the close frame, cut to what a frame holds."""
    reason = f"{outcome_of(error).close_reason}: {public_message(error)}"
    return reason.encode(errors="replace")[:MAX_REASON_BYTES].decode(errors="ignore")


def _expected(error: BaseException) -> Outcome | None:
    kinds = (kind for kind in type(error).__mro__ if issubclass(kind, Exception))
    return next((OUTCOMES[kind] for kind in kinds if kind in OUTCOMES), None)
