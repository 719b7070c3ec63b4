"""Questions of operators and pages: liveness, readiness, metrics, the model, demo clips."""

import json
from pathlib import Path

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from earshot.service.core.services import services_of
from earshot.service.errors import NotReady
from earshot.service.gateway.web_files import SAMPLES_DIR
from earshot.service.http.dialect import refused
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_id import request_id_of

router = APIRouter()


@router.api_route("/healthz", methods=["GET", "HEAD"])
async def healthz(request: Request) -> Response:
    """The process is alive: its event loop answers, and its engine decodes."""
    try:
        services_of(request).admission.check_alive()
    except NotReady as error:
        return refused(request, Refusal.of(error, request_id_of(request.scope)))
    return JSONResponse({"status": "ok"})


@router.api_route("/readyz", methods=["GET", "HEAD"])
async def readyz(request: Request) -> Response:
    """New streams are welcome, unless the server stops; a full server is ready, only "busy"."""
    services = services_of(request)
    try:
        services.admission.check_ready()
    except NotReady as error:
        return refused(request, Refusal.of(error, request_id_of(request.scope)))
    return JSONResponse({"status": "ready" if services.engine.can_open() else "busy"})


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Prometheus text format."""
    registry = services_of(request).metrics.registry
    return Response(generate_latest(registry), headers={"content-type": CONTENT_TYPE_LATEST})


@router.get("/v1/models")
async def models(request: Request) -> Response:
    """The model served, in one object: what each protocol tells of it has names of its own."""
    answer: dict[str, object] = {}
    for dialect in request.app.state.dialects:
        answer |= await run_in_threadpool(dialect.models, request)  # it may read files
    return JSONResponse(answer)


@router.get("/v1/card")
async def card(request: Request) -> Response:
    """The model's card by its makers, in Markdown; null where they say nothing."""
    model = services_of(request).model
    return JSONResponse({"name": model.name, "card": model.card})


@router.get("/v1/samples")
async def samples() -> Response:
    """Demo clips with their text, source and licence; each is served under /web/samples/."""
    return JSONResponse(_samples(SAMPLES_DIR / "samples.json"))


def _samples(index: Path) -> object:
    return json.loads(index.read_text(encoding="utf-8")) if index.is_file() else []
