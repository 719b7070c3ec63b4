"""What operators may look at with `--debug` alone: one stream's life, without its text."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from earshot.service.core.services import services_of

router = APIRouter()


@router.get("/debug/streams/{request_id}")
async def stream(request: Request, request_id: str) -> Response:
    """The last events of a request's streams, and how they stand in their engine."""
    traces = services_of(request).traces
    trace = None if traces is None else traces.get(request_id)
    if trace is None:
        return JSONResponse({"error": f"no request {request_id} is remembered"}, 404)
    return JSONResponse(await trace.describe())
