"""A second wire protocol stands beside Deepgram's, and the service is not edited for it."""

import asyncio
import json

import pytest
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from earshot.service.core.services import services_of
from earshot.service.errors import Refused
from earshot.service.gateway.dialects import DIALECTS
from earshot.service.http.dialect import Dialect, dialect_of
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_id import request_id_of

router = APIRouter()


@router.post("/toy/hear")
async def hear(request: Request) -> Response:
    try:
        services_of(request).admission.check()
    except Refused as error:
        return shrug(Refusal.of(error, request_id_of(request.scope)))
    return JSONResponse({"heard": await request.json()})


def shrug(refusal: Refusal) -> Response:
    body = {"shrug": refusal.code, "why": refusal.message}
    return JSONResponse(body, refusal.status, {"toy-id": refusal.request_id, **refusal.headers})


def models(request: Request) -> dict[str, object]:
    return {"toys": [services_of(request).model.name]}


TOY = Dialect(
    paths=("/toy",),
    routers=(router,),
    readable_headers=("toy-id",),
    refuse=shrug,
    models=models,
)


@pytest.fixture
async def both(serve):
    async with serve((*DIALECTS, TOY), allowed_origins="https://example.org") as server:
        yield server


def is_of_toy(headers, body):
    """Whether an answer has the shape of its errors; else it has Deepgram's, whole."""
    body = json.loads(body)
    if "toy-id" in headers:
        assert body.keys() == {"shrug", "why"}
        assert "dg-request-id" not in headers
        return True
    assert body.keys() == {"err_code", "err_msg", "request_id"}
    assert headers["dg-request-id"] == body["request_id"]
    return False


async def test_its_route_is_served(both):
    async with both.client() as client:
        answer = await client.post("/toy/hear", json="a knock")
    assert (answer.status_code, answer.json()) == (200, {"heard": "a knock"})


@pytest.mark.parametrize(
    ("method", "path", "status", "of_toy"),
    [
        ("GET", "/toy", 404, True),
        ("GET", "/toy/nowhere", 404, True),
        ("GET", "/toy/hear", 405, True),
        ("GET", "/toys", 404, False),
        ("GET", "/v1/nowhere", 404, False),
        ("PUT", "/v1/listen", 405, False),
        ("POST", "/v1/listen", 400, False),
    ],
)
async def test_each_path_has_the_errors_of_its_owner(both, method, path, status, of_toy):
    async with both.client() as client:
        answer = await client.request(method, path, content=b"garbage")
    assert answer.status_code == status
    assert is_of_toy(answer.headers, answer.content) is of_toy
    assert ("allow" in answer.headers) is (status == 405)


@pytest.mark.parametrize(("path", "of_toy"), [("/toy/hear", True), ("/v1/listen", False)])
async def test_each_refuses_in_its_own_words_when_the_server_is_full(both, path, of_toy):
    both.engine.max_streams = 0
    async with both.client() as client:
        answer = await client.post(path)
    assert answer.status_code == 429
    assert is_of_toy(answer.headers, answer.content) is of_toy
    assert int(answer.headers["retry-after"]) > 0


async def test_what_it_does_not_foresee_is_in_its_words_and_counted(both):
    async with both.client() as client:
        answer = await client.post("/toy/hear", content=b"no JSON")
        metrics = (await client.get("/metrics")).text
    assert is_of_toy(answer.headers, answer.content)
    assert (answer.status_code, answer.json()["why"]) == (500, "internal error")
    assert 'earshot_rejects_total{code="INTERNAL_SERVER_ERROR"} 1.0' in metrics


@pytest.mark.parametrize(("path", "of_toy"), [("/toy/live", True), ("/v1/live", False)])
async def test_a_socket_to_a_path_that_is_none_is_refused_by_its_owner(both, path, of_toy):
    with pytest.raises(InvalidStatus) as refused:
        await connect(f"{both.ws}{path}", proxy=None)
    answer = refused.value.response
    assert answer.status_code == 404
    assert is_of_toy(answer.headers, answer.body) is of_toy


@pytest.mark.parametrize("fault", ["X: y", "Content-Length: 5"], ids=["no key", "a body"])
@pytest.mark.parametrize(("path", "of_toy"), [("/to%79/live?x", True), ("/v1/listen", False)])
async def test_a_handshake_that_is_none_is_refused_by_its_owner(both, fault, path, of_toy):
    wish = ["Host: x", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    async with both.raw() as (reader, writer):
        writer.write("\r\n".join([f"GET {path} HTTP/1.1", *wish, fault, "", ""]).encode())
        answer = await asyncio.wait_for(reader.read(), 60)
    head, _, body = answer.decode().partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    assert " 400 " in first
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    assert is_of_toy(headers, body) is of_toy


async def test_one_list_of_models_has_what_each_tells(both):
    async with both.client() as client:
        listed = (await client.get("/v1/models")).json()
    assert listed["toys"] == ["scripted"]
    assert [model["name"] for model in listed["stt"]] == ["scripted"]


async def test_pages_elsewhere_may_read_the_headers_of_both(both):
    async with both.client() as client:
        answer = await client.get("/toy", headers={"origin": "https://example.org"})
    readable = answer.headers["access-control-expose-headers"]
    assert {"toy-id", "dg-request-id", "retry-after"} <= set(readable.split(", "))


@pytest.mark.parametrize("path", ["", "/", "/toybox", "http://x/toy", "/v1/toy"])
def test_a_path_that_is_nobodys_is_the_firsts(path):
    assert dialect_of(path, (*DIALECTS, TOY)) is DIALECTS[0]
