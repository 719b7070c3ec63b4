"""What nobody foresaw has the shape of every other error, and is in the log."""

import json
import re

import pytest
from websockets.exceptions import InvalidStatus

from earshot.service.audio.file_reader import AudioFile
from earshot.service.deepgram import listen_socket
from earshot.service.deepgram.file_answer import FileAnswer
from earshot.service.gateway import probes

SAMPLES = "/v1/listen?encoding=linear16&sample_rate=16000"


def broken(*arguments, **options):
    raise AttributeError("inner secret")


def ids_in(logged):
    """The ids of requests that a log names."""
    return set(re.findall(r"request_id=([0-9a-f-]{36})", logged))


def check(status, headers, body):
    """It is the error that the protocol describes, and tells nothing of our insides."""
    assert status == 500
    assert json.loads(body) == {
        "err_code": "INTERNAL_SERVER_ERROR",
        "err_msg": "internal error",
        "request_id": headers["dg-request-id"],
    }


async def test_a_route_that_breaks_answers_like_all_errors(live, monkeypatch, capsys):
    monkeypatch.setattr(probes, "_samples", broken)
    async with live.client() as client:
        answer = await client.get("/v1/samples")
    check(answer.status_code, answer.headers, answer.content)
    logged = capsys.readouterr().out
    assert "inner secret" in logged
    assert answer.headers["dg-request-id"] in logged


async def test_pages_of_allowed_origins_may_read_it(serve, monkeypatch):
    monkeypatch.setattr(probes, "_samples", broken)
    origin = "https://example.org"
    async with serve(allowed_origins=origin) as server, server.client() as client:
        answer = await client.get("/v1/samples", headers={"origin": origin})
    assert answer.headers["access-control-allow-origin"] == origin


async def test_a_handshake_that_breaks_answers_like_all_errors(live, monkeypatch):
    monkeypatch.setattr(listen_socket, "parse_parameters", broken)
    with pytest.raises(InvalidStatus) as refused:
        await live.listen()
    response = refused.value.response
    check(response.status_code, response.headers, response.body)


@pytest.mark.parametrize(
    ("of", "name"), [(AudioFile, "__init__"), (AudioFile, "blocks"), (FileAnswer, "response")]
)
async def test_a_file_that_breaks_answers_like_all_errors(live, monkeypatch, capsys, of, name):
    monkeypatch.setattr(of, name, broken)
    async with live.client() as client:
        answer = await client.post("/v1/listen", content=_wav())
    check(answer.status_code, answer.headers, answer.content)
    logged = capsys.readouterr().out
    assert "inner secret" in logged
    assert ids_in(logged) == {answer.headers["dg-request-id"]}
    await live.idle()


async def test_what_breaks_is_counted(live, monkeypatch):
    monkeypatch.setattr(AudioFile, "blocks", broken)
    async with live.client() as client:
        await client.post("/v1/listen", content=_wav())
        metrics = (await client.get("/metrics")).text
    assert 'earshot_rejects_total{code="INTERNAL_SERVER_ERROR"} 1.0' in metrics


async def test_a_file_that_breaks_under_way_ends_in_an_error_event(live, monkeypatch):
    monkeypatch.setattr(AudioFile, "blocks", broken)
    async with live.client() as client:
        answer = await client.post(
            "/v1/listen", content=_wav(), headers={"accept": "text/event-stream"}
        )
    name, data = answer.text.strip().split("\n\n")[-1].split("\n")
    assert name == "event: error"
    assert json.loads(data.removeprefix("data: "))["err_code"] == "INTERNAL_SERVER_ERROR"


def _wav():
    return (
        b"RIFF\x24\x04\x00\x00WAVEfmt "
        + bytes.fromhex("10000000 0100 0100 803e0000 007d0000 0200 1000")
        + b"data\x00\x04\x00\x00"
        + bytes(1024)
    )
