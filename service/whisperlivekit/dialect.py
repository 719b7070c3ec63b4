"""WhisperLiveKit's protocol, as the gateway knows it."""

from collections.abc import Mapping

from starlette.requests import Request

from earshot.service.http.dialect import Dialect
from earshot.service.whisperlivekit import page_socket
from earshot.service.whisperlivekit.page_socket import refusal_answer


def _models(_: Request) -> Mapping[str, object]:
    """The page asks for no list."""
    return {}


WHISPERLIVEKIT = Dialect(
    paths=("/asr",),
    routers=(page_socket.router,),
    readable_headers=(),
    refuse=refusal_answer,
    models=_models,
)
