"""Errors as HTTP answers, also on the handshake of a WebSocket."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from earshot.service.deepgram.response.close_codes import outcome_of, public_message
from earshot.service.deepgram.response.wire import ErrorBody
from earshot.service.errors import Refused
from earshot.service.http.request_id import new_request_id


def refusal(error: BaseException, request_id: str) -> Response:
    """Build the answer {err_code, err_msg, request_id}, as Deepgram's SDKs read it."""
    outcome = outcome_of(error)
    answer = _answer(outcome.http_status, outcome.err_code, public_message(error), request_id)
    if isinstance(error, Refused):
        answer.headers["retry-after"] = str(error.retry_after_s)
    return answer


async def unrouted(request: Request, error: Exception) -> Response:
    """Answer in the same shape what no route takes: an unknown path, another method."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    answer = _not_routed(status, request.method, request.url.path)
    answer.headers.update(error.headers or {})
    return answer


def not_found(method: str, path: str) -> Response:
    """Build the answer to a path that does not exist."""
    return _not_routed(HTTPStatus.NOT_FOUND, method, path)


def _not_routed(status: HTTPStatus, method: str, path: str) -> Response:
    message = f"{method} {path}: {status.phrase.lower()}"
    return _answer(status, status.name, message, new_request_id())


def _answer(status: int, code: str, message: str, request_id: str) -> Response:
    headers = {"dg-request-id": request_id, "dg-error": header_safe(message)}
    body = ErrorBody(err_code=code, err_msg=message, request_id=request_id)
    return Response(body.to_json(), status, headers, media_type="application/json")


def header_safe(text: str) -> str:
    """Make a header's value of a message that may have the client's words: nothing ends it."""
    return "".join(char if " " <= char <= "~" else "?" for char in text)[:500]
