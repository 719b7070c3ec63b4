"""A refusal as OpenAI's SDKs read it: they make the class of their exception of the status."""

from starlette.responses import JSONResponse, Response

from earshot.service.http.refusals import Refusal

REQUEST_ID = "x-request-id"
_SERVERS = 500
_TOO_MANY = 429


def error_of(refusal: Refusal) -> dict[str, object]:
    """The refusal as an object of JSON."""
    return {
        "message": refusal.message,
        "type": _kind(refusal.status),
        "param": None,
        "code": refusal.code.lower(),
    }


def error_body(refusal: Refusal) -> dict[str, object]:
    """The refusal as the body of an answer."""
    return {"error": error_of(refusal)}


def refusal_answer(refusal: Refusal) -> Response:
    """The refusal as an HTTP answer."""
    headers = {REQUEST_ID: refusal.request_id, **refusal.headers}
    return JSONResponse(error_body(refusal), refusal.status, headers)


def _kind(status: int) -> str:
    if status >= _SERVERS:
        return "server_error"
    return "rate_limit_error" if status == _TOO_MANY else "invalid_request_error"
