"""Refusals of clients that are not served, before a protocol has given them its shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from earshot.service.errors import BadPhrase, Refused
from earshot.service.http.request_id import new_request_id
from earshot.service.outcomes import outcome_of, public_message

MAX_LOGGED_CHARS = 300


@dataclass(frozen=True)
class Refusal:
    """An error on its way to become an HTTP answer, also to the handshake of a WebSocket.

    code: what logs and metrics call it. headers: those that HTTP itself wants of the answer, such
    as Retry-After. quotes_phrase: the message is not for logs.
    """

    status: int
    code: str
    message: str
    request_id: str = field(default_factory=new_request_id)
    headers: Mapping[str, str] = field(default_factory=dict)
    quotes_phrase: bool = False

    @property
    def logged(self) -> dict[str, str | None]:
        """What a log line says of it: no boosted words, and no more than a line's worth."""
        message = None if self.quotes_phrase else self.message[:MAX_LOGGED_CHARS]
        return {"request_id": self.request_id, "code": self.code, "message": message}

    @classmethod
    def of(cls, error: BaseException, request_id: str) -> "Refusal":
        """What the table of outcomes says of an error."""
        outcome = outcome_of(error)
        headers = {"retry-after": str(error.retry_after_s)} if isinstance(error, Refused) else {}
        return cls(
            outcome.http_status,
            outcome.err_code,
            public_message(error),
            request_id,
            headers,
            quotes_phrase=isinstance(error, BadPhrase),
        )

    @classmethod
    def of_status(cls, status: HTTPStatus, message: str) -> "Refusal":
        """The refusal of what never became a request of ours: its code is the status's name."""
        return cls(status, status.name, message)

    @classmethod
    def unrouted(
        cls,
        status: HTTPStatus,
        asked: str,
        instead: str,
        headers: Mapping[str, str] | None = None,
    ) -> "Refusal":
        """The refusal of what no route takes: an unknown path, another method.

        asked: method and path. instead: what is served, empty where that is not known.
        """
        message = f"{asked}: {status.phrase.lower()}"
        if instead:
            message += f"; served: {instead}"
        return cls(status, status.name, message, headers=headers or {})
