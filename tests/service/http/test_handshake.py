"""Handshakes that are none: whoever finds the fault, the answer has the shape of all errors."""

import asyncio
import json

import pytest

from earshot.service.http.header_value import header_value

KEY = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
WANTED = ["Host: x", "Connection: Upgrade", "Upgrade: websocket"]
VERSION = "Sec-WebSocket-Version: 13"
TARGET = "/v1/listen?encoding=linear16&sample_rate=16000"


async def answer_to(live, *headers, method="GET", target=TARGET, body=b""):
    """Return status, headers and body of what the server says before it closes."""
    async with live.raw() as (reader, writer):
        head = "\r\n".join([f"{method} {target} HTTP/1.1", *headers, "", ""])
        writer.write(head.encode("latin-1") + body)
        answer = await asyncio.wait_for(reader.read(), 60)
    head, _, content = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    return int(first.split()[1]), {name.lower(): fields[name] for name in fields}, content


def check(answer, status, code, named):
    """It is the error that the protocol describes."""
    said, headers, content = answer
    body = json.loads(content)
    assert (said, body["err_code"]) == (status, code)
    assert named in body["err_msg"]
    assert body["request_id"] == headers["dg-request-id"]
    assert headers["dg-error"] == header_value(body["err_msg"])
    assert headers["content-type"] == "application/json"
    assert int(headers["content-length"]) == len(content)
    assert headers["connection"] == "close"


@pytest.mark.parametrize(
    ("headers", "named"),
    [
        ([VERSION], "missing Sec-WebSocket-Key"),
        ([VERSION, KEY, KEY], "Sec-WebSocket-Key header: multiple values"),
        ([VERSION, "Sec-WebSocket-Key: AAAA"], "invalid Sec-WebSocket-Key"),
        ([KEY], "missing Sec-WebSocket-Version"),
        ([KEY, "Sec-WebSocket-Version: 12"], "invalid Sec-WebSocket-Version header: 12"),
        ([KEY, VERSION, "Origin: http://x", "Origin: http://y"], "Origin header: multiple values"),
        ([KEY, VERSION, "Content-Length: 5"], "request body"),
        ([KEY, VERSION, "Transfer-Encoding: chunked"], "transfer codings"),
        ([KEY, VERSION, "X: a\x01b"], "header value"),
    ],
)
async def test_a_handshake_that_is_none_is_refused_with_json(live, capsys, headers, named):
    answer = await answer_to(live, *WANTED, *headers)
    check(answer, 400, "BAD_REQUEST", named)
    assert live.engine.opened == []
    assert answer[1]["dg-request-id"] in capsys.readouterr().out


async def test_another_upgrade_beside_ours_is_refused_with_json(live):
    answer = await answer_to(live, *WANTED, KEY, VERSION, "Upgrade: websocket")
    check(answer, 426, "UPGRADE_REQUIRED", "Upgrade")
    assert answer[1]["upgrade"] == "websocket"


async def test_an_absolute_address_is_refused_with_json(live):
    answer = await answer_to(live, *WANTED, KEY, VERSION, target=f"http://x{TARGET}")
    check(answer, 404, "NOT_FOUND", "http://x/v1/listen: not found")


@pytest.mark.parametrize("target", [TARGET, "/v1/models"])
async def test_the_wish_for_a_socket_is_ignored_where_no_get_makes_it(live, tone, target):
    audio = tone(0.5, 0.2)
    wished = [*WANTED, f"Content-Length: {len(audio)}", "Connection: Upgrade, close"]
    status, headers, content = await answer_to(
        live, *wished, method="POST", target=target, body=audio
    )
    assert status == (200 if target is TARGET else 405)
    assert "dg-request-id" in headers
    assert (b"w20" in content) is (target is TARGET)


@pytest.mark.parametrize(
    ("headers", "named"), [([], "Host"), (["Host: x", "Content-Length: five"], "Content-Length")]
)
async def test_what_is_no_http_is_refused_with_json(live, capsys, headers, named):
    answer = await answer_to(live, *headers, method="POST")
    assert answer[1]["dg-request-id"] in capsys.readouterr().out
    assert named in answer[1]["dg-error"]
    check(answer, 400, "BAD_REQUEST", "no valid HTTP: ")


async def test_a_path_with_a_slash_too_many_is_not_found(live):
    answer = await answer_to(
        live, "Host: x", "Connection: close", method="POST", target="/v1/listen/"
    )
    check(answer, 404, "NOT_FOUND", "POST /v1/listen/: not found")
