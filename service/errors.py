"""Errors at the edge.

ServiceError
├── BadRequest            a query parameter, header or body that asks for something we do not do
│   └── BadPhrase         a phrase to boost that cannot be; the message quotes it, and logs do not
├── OriginRefused         a browser page from another origin
├── Refused               admission said no
│   ├── Busy              the stream limit is reached
│   ├── NoUnpacker        too many streams come in containers already
│   ├── NotReady          draining, or without an engine
│   └── StorageFull       no room on disk for the body of a request
├── UndecodableAudio      bytes that are not the audio they claim to be
├── AudioTooLong          a file that decodes to more seconds than allowed
├── BodyTooLarge          a request body over the size limit
├── UploadStalled         a request body that stopped arriving
├── IdleSession           a socket without audio or messages for too long
├── SlowReader            a client that does not read its results
├── DrainExpired          the server stopped before this request was done
└── StartupError          the server or a command cannot start: one line for the user

`outcomes.py` says which close code or HTTP status each of them becomes.
"""

from earshot.errors import EarshotError


class ServiceError(EarshotError):
    """Base of everything the service raises on purpose; the message is fit for clients."""


class BadRequest(ServiceError):
    """The request asks for something that cannot be served as asked."""


class BadPhrase(BadRequest):
    """A phrase cannot be boosted as asked. The message quotes it: it is not for logs."""


class OriginRefused(ServiceError):
    """The page's origin is neither ours nor on the allowlist."""


class Refused(ServiceError):
    """Admission refused the request; it may be tried again after ``retry_after_s`` seconds."""

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Busy(Refused):
    """All streams are taken."""


class NoUnpacker(Refused):
    """All places for sockets that send containers are taken."""


class NotReady(Refused):
    """The server is draining, or its engine has stopped."""


class StorageFull(Refused):
    """The disk has no room for the request's body."""


class UndecodableAudio(ServiceError):
    """The bytes are not audio of the stated or a recognised kind."""


class AudioTooLong(ServiceError):
    """The file decodes to more audio than one request may hold."""


class BodyTooLarge(ServiceError):
    """The request body is over the size limit."""


class UploadStalled(ServiceError):
    """The request body stopped arriving before it was complete."""


class IdleSession(ServiceError):
    """Neither audio nor a message arrived within the idle limit."""


class SlowReader(ServiceError):
    """Results pile up because the client does not read them."""


class DrainExpired(ServiceError):
    """The server is stopping and the time for finishing this request is over."""


class StartupError(ServiceError):
    """A command cannot start; the message is the one line the user sees."""
