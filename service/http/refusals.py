"""What is told to a client that is not served, before a protocol has given it its shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from earshot.service.errors import Refused
from earshot.service.http.request_id import new_request_id
from earshot.service.outcomes import outcome_of, public_message


@dataclass(frozen=True)
class Refusal:
    """An error on its way to become an HTTP answer, also to the handshake of a WebSocket.

    code: what logs and metrics call it. headers: those that HTTP itself wants of the answer, such
    as Retry-After.
    """

    status: int
    code: str
    message: str
    request_id: str = field(default_factory=new_request_id)
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, error: BaseException, request_id: str) -> "Refusal":
        """What the table of outcomes says of an error."""
        outcome = outcome_of(error)
        headers = {"retry-after": str(error.retry_after_s)} if isinstance(error, Refused) else {}
        return cls(
            outcome.http_status, outcome.err_code, public_message(error), request_id, headers
        )

    @classmethod
    def of_status(cls, status: HTTPStatus, message: str) -> "Refusal":
        """Of what never became a request of ours: its code is the status's name."""
        return cls(status, status.name, message)

    @classmethod
    def unrouted(
        cls, status: HTTPStatus, method: str, path: str, headers: Mapping[str, str] | None = None
    ) -> "Refusal":
        """Of what no route takes: an unknown path, another method."""
        message = f"{method} {path}: {status.phrase.lower()}"
        return cls(status, status.name, message, headers=headers or {})
