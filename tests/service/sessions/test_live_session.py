"""Sockets of all protocols are refused before they are accepted, each in its protocol's words."""

import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

LISTEN = "/v1/listen?encoding=linear16&sample_rate=16000"
SOCKETS = {LISTEN: "err_code", "/": "err_code", "/v1/realtime": "error", "/asr": "detail"}
"""A key of each refusal."""


async def refusal(live, path, **headers):
    with pytest.raises(InvalidStatus) as refused:
        async with connect(f"{live.ws}{path}", proxy=None, additional_headers=headers):
            pass
    assert SOCKETS[path] in json.loads(refused.value.response.body)
    return refused.value.response


@pytest.mark.parametrize("path", SOCKETS)
async def test_a_full_server_says_when_to_come_again(live, path):
    live.engine.max_streams = 0
    response = await refusal(live, path)
    assert response.status_code == 429
    assert int(response.headers["retry-after"]) > 0


@pytest.mark.parametrize("path", SOCKETS)
async def test_a_page_elsewhere_is_refused(live, path):
    assert (await refusal(live, path, origin="http://evil.example")).status_code == 403


@pytest.mark.parametrize("path", SOCKETS)
async def test_a_server_whose_engine_is_late_takes_nobody(live, path):
    live.engine.late = True
    assert (await refusal(live, path)).status_code == 503
