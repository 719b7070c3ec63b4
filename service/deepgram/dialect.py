"""Deepgram's protocol, as the gateway knows it."""

from collections.abc import Mapping
from dataclasses import asdict

from starlette.requests import Request

from earshot.service.core.services import services_of
from earshot.service.deepgram import listen_file, listen_socket
from earshot.service.deepgram.flux import flux_socket
from earshot.service.deepgram.flux.flux_names import FLUXES
from earshot.service.deepgram.known_names import DEEPGRAMS
from earshot.service.deepgram.response.model_list import listing
from earshot.service.deepgram.response.refusal_answer import refusal_answer
from earshot.service.http.dialect import Dialect
from earshot.service.request.parameters import ParameterRules


def _models(request: Request) -> Mapping[str, object]:
    """The model served, in the shape of Deepgram's model list, and what may be named beside it."""
    services = services_of(request)
    rules = ParameterRules.of(services.settings, services.model, DEEPGRAMS)
    fluxes = ParameterRules.of(services.settings, services.model, FLUXES)
    names = dict.fromkeys((*rules.models.others, *fluxes.models.others))
    model = listing(services.model, tuple(names))
    return {
        "stt": [model],
        "boost_limits": rules.boosts.limits,
        "language_models": [asdict(each) for each in services.engine.language_models()],
    }


DEEPGRAM = Dialect(
    paths=("/v1/listen", "/v2/listen"),
    routers=(listen_socket.router, listen_file.router, flux_socket.router),
    readable_headers=("dg-request-id", "dg-error", "dg-warning"),
    refuse=refusal_answer,
    models=_models,
)
