"""Who asks for a path that is none is told which there are, and the log has it."""

import json

import pytest
from fastapi import APIRouter
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from earshot.service.gateway.dialects import DIALECTS
from earshot.service.gateway.served_paths import ServedPaths
from earshot.service.http.dialect import Dialect

SERVED = (
    "served: /v1/listen (WebSocket, POST), /v2/listen (WebSocket), "
    "/v1/audio/transcriptions (POST), "
    "/v1/realtime (WebSocket), /v1/models/{name}, /asr (WebSocket), /healthz, /readyz, "
    "/metrics, /v1/models, /v1/card, /v1/samples, / (WebSocket, GET)"
)


async def test_an_unknown_path_is_answered_with_those_that_there_are(live):
    with capture_logs() as logs:
        async with live.client() as client:
            answer = await client.post("/v1/transcribe", content=b"sound")
    assert answer.status_code == 404
    message = f"POST /v1/transcribe: not found; {SERVED}"
    assert answer.json()["err_msg"] == answer.headers["dg-error"] == message
    (line,) = logs
    assert (line["event"], line["code"], line["message"]) == (
        "request_refused",
        "NOT_FOUND",
        message,
    )
    assert line["request_id"] == answer.json()["request_id"]


async def test_a_socket_to_an_unknown_path_is_told_the_same(live):
    with capture_logs() as logs, pytest.raises(InvalidStatus) as refused:
        await connect(f"{live.ws}/v1/live", proxy=None)
    message = f"GET /v1/live: not found; {SERVED}"
    assert json.loads(refused.value.response.body)["err_msg"] == message
    assert [(line["event"], line["message"]) for line in logs] == [("socket_refused", message)]


async def test_a_wrong_method_is_answered_with_those_that_the_path_takes(live):
    async with live.client() as client:
        answer = await client.get("/v1/listen")
    assert answer.json()["err_msg"] == (
        "GET /v1/listen: method not allowed; served: WebSocket, POST"
    )


async def test_the_paths_of_every_dialect_are_named(serve):
    router = APIRouter()
    router.add_api_route("/toy/hear", lambda: None, methods=["PUT"])
    toy = Dialect(("/toy",), (router,), (), DIALECTS[0].refuse, lambda _: {})
    async with serve((*DIALECTS, toy)) as server, server.client() as client:
        answer = await client.get("/nowhere")
    assert "/asr (WebSocket), /toy/hear (PUT), /healthz" in answer.json()["err_msg"]


def test_a_path_that_is_not_served_takes_nothing():
    assert ServedPaths([]).methods_of("/web/style.css") == ""
