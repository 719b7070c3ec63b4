"""The handshake of a WebSocket as websockets reads it, refused as its path refuses all else."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.typing import StatusLike

from earshot.service.http.dialect import Dialect, dialect_of
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_log import log


class Handshake(ServerProtocol):
    """Has an id for what it refuses, and the words of a protocol instead of plain text."""

    def __init__(self, dialects: Sequence[Dialect], **options: Any) -> None:
        super().__init__(**options)
        self._dialects = dialects
        self._path = ""

    def accept(self, request: Request) -> Response:
        """Answer a request that could be read."""
        self._path = unquote(request.path.partition("?")[0])
        return super().accept(request)

    def reject(self, status: StatusLike, text: str) -> Response:
        """Build the answer; of a ``text`` with advice for people the first line is the reason."""
        status = HTTPStatus(status)
        refusal = Refusal.of_status(status, text.partition("\n")[0] or status.phrase)
        log.info("socket_refused", **refusal.logged)
        worded = dialect_of(self._path, self._dialects).refuse(refusal)
        answer = super().reject(status, bytes(worded.body).decode())
        del answer.headers["Content-Type"], answer.headers["Content-Length"]
        answer.headers.update(worded.headers)
        return answer

    def reject_unread(self, path: str) -> Response | None:
        """Build the answer to what could not be read, None where it is too large to read.

        That is mostly a request with a body, which no handshake has.
        """
        fault = None if self.handshake_exc is None else self.handshake_exc.__cause__
        if not isinstance(fault, ValueError | NotImplementedError):
            return None
        self._path = path
        return self.reject(
            HTTPStatus.BAD_REQUEST, f"Failed to open a WebSocket connection: {fault}."
        )
