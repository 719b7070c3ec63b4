"""GET /v1/models/NAME: one model of the list."""

from dataclasses import replace
from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from earshot.service.core.services import Services, services_of
from earshot.service.errors import BadRequest
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_id import request_id_of
from earshot.service.openai.known_names import OPENAIS
from earshot.service.openai.model_list import model_object
from earshot.service.openai.refusal_answer import refusal_answer
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules

router = APIRouter()


def names_of(services: Services) -> ModelNames:
    """What a request may call the model."""
    return ParameterRules.of(services.settings, services.model, OPENAIS).models


@router.get("/v1/models/{name:path}")
async def model(request: Request, name: str) -> Response:
    """The model, by one of its names."""
    try:
        if not name:
            raise BadRequest("the name of a model is empty")
        names_of(services_of(request)).check(name)
    except BadRequest as error:
        refusal = Refusal.of(error, request_id_of(request.scope))
        return refusal_answer(replace(refusal, status=HTTPStatus.NOT_FOUND))
    return JSONResponse(model_object(name))
