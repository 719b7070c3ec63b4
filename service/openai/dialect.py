"""OpenAI's protocol, as the gateway knows it."""

from collections.abc import Mapping

from starlette.requests import Request

from earshot.service.core.services import services_of
from earshot.service.http.dialect import Dialect
from earshot.service.openai import models, realtime_socket, transcriptions
from earshot.service.openai.model_list import model_list
from earshot.service.openai.models import names_of
from earshot.service.openai.refusal_answer import REQUEST_ID, refusal_answer
from earshot.service.openai.transcription_answer import WARNINGS


def _models(request: Request) -> Mapping[str, object]:
    """The model by all its names, in the shape of OpenAI's list."""
    names = names_of(services_of(request))
    return model_list((names.own, *names.others))


OPENAI = Dialect(
    paths=("/v1/audio", "/v1/realtime"),
    routers=(transcriptions.router, realtime_socket.router, models.router),
    readable_headers=(REQUEST_ID, WARNINGS),
    refuse=refusal_answer,
    models=_models,
)
