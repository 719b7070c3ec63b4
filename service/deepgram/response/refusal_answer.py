"""A refusal as Deepgram's SDKs read it."""

from starlette.responses import Response

from earshot.service.deepgram.response.wire import ErrorBody
from earshot.service.http.header_value import header_value
from earshot.service.http.refusals import Refusal


def error_body(refusal: Refusal) -> ErrorBody:
    """The refusal as an object of JSON."""
    return ErrorBody(err_code=refusal.code, err_msg=refusal.message, request_id=refusal.request_id)


def refusal_answer(refusal: Refusal) -> Response:
    """The refusal as an HTTP answer."""
    headers = {
        "dg-request-id": refusal.request_id,
        "dg-error": header_value(refusal.message),
        **refusal.headers,
    }
    body = error_body(refusal).to_json()
    return Response(body, refusal.status, headers, media_type="application/json")
