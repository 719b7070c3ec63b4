"""Errors as HTTP answers, also on the handshake of a WebSocket."""

from starlette.responses import Response

from service.close_codes import outcome_of, public_message
from service.errors import Refused
from service.wire import ErrorBody


def refusal(error: BaseException, request_id: str) -> Response:
    """Build the answer {err_code, err_msg, request_id}, as Deepgram's SDKs read it."""
    outcome = outcome_of(error)
    message = public_message(error)
    headers = {"dg-request-id": request_id, "dg-error": _header_safe(message)}
    if isinstance(error, Refused):
        headers["retry-after"] = str(error.retry_after_s)
    body = ErrorBody(err_code=outcome.err_code, err_msg=message, request_id=request_id)
    return Response(body.to_json(), outcome.http_status, headers, media_type="application/json")


def _header_safe(text: str) -> str:
    """The client's own words may be in the message: nothing that could end the header passes."""
    return "".join(char if " " <= char <= "~" else "?" for char in text)[:500]
