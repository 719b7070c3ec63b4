"""The handshake of a WebSocket as websockets reads it, refused in the shape of all our errors."""

from http import HTTPStatus

from websockets.http11 import Response
from websockets.server import ServerProtocol
from websockets.typing import StatusLike

from earshot.service.http.refusals import status_refusal
from earshot.service.http.request_log import log


class Handshake(ServerProtocol):
    """Has an id for what it refuses, and the JSON of a refusal instead of plain text."""

    def reject(self, status: StatusLike, text: str) -> Response:
        """Build the answer; of a ``text`` with advice for people the first line is the reason."""
        status = HTTPStatus(status)
        refusal = status_refusal(status, text.partition("\n")[0] or status.phrase)
        log.info("socket_refused", request_id=refusal.headers["dg-request-id"], code=status.name)
        answer = super().reject(status, bytes(refusal.body).decode())
        del answer.headers["Content-Type"], answer.headers["Content-Length"]
        answer.headers.update(refusal.headers)
        return answer

    def reject_unread(self) -> Response | None:
        """Build the answer to what could not be read, None where it is too large to read.

        That is mostly a request with a body, which no handshake has.
        """
        fault = None if self.handshake_exc is None else self.handshake_exc.__cause__
        if not isinstance(fault, ValueError | NotImplementedError):
            return None
        return self.reject(
            HTTPStatus.BAD_REQUEST, f"Failed to open a WebSocket connection: {fault}."
        )
