"""The log says why a client was refused or thrown out, and quotes no boosted words."""

import pytest
from structlog.testing import capture_logs
from websockets.exceptions import InvalidStatus

from earshot.service.http.refusals import MAX_LOGGED_CHARS


def line_of(logs, event):
    (line,) = [line for line in logs if line["event"] == event]
    return line


async def test_a_file_that_is_refused_is_logged_with_the_message(live):
    with capture_logs() as logs:
        async with live.client() as client:
            answer = await client.post("/v1/listen?smart_format=perhaps", content=b"sound")
    line = line_of(logs, "file_failed")
    assert line["error"] == "BadRequest"
    assert line["message"] == "smart_format=perhaps: must be true or false"
    assert line["message"] == answer.json()["err_msg"]


async def test_a_socket_that_is_refused_is_logged_with_the_message(live):
    with capture_logs() as logs, pytest.raises(InvalidStatus):
        await live.listen("language=perhaps")
    assert line_of(logs, "socket_refused")["message"].startswith("language=perhaps: not served")


@pytest.mark.parametrize("parameter", ["keyterm=whisper:99", "keywords=whisper:much"])
async def test_boosted_words_are_told_to_the_client_and_not_logged(live, parameter):
    with capture_logs() as logs:
        async with live.client() as client:
            answer = await client.post(f"/v1/listen?{parameter}", content=b"sound")
        with pytest.raises(InvalidStatus):
            await live.listen(parameter)
    assert "whisper" in answer.json()["err_msg"]
    assert [line_of(logs, event)["message"] for event in ("file_failed", "socket_refused")] == [
        None,
        None,
    ]
    assert "whisper" not in str(logs)


async def test_a_message_is_logged_up_to_a_bound(live):
    with capture_logs() as logs:
        async with live.client() as client:
            await client.post(f"/v1/listen?model={'x' * 5000}", content=b"sound")
    assert len(line_of(logs, "file_failed")["message"]) == MAX_LOGGED_CHARS


async def test_a_session_that_is_thrown_out_is_logged_and_counted_with_its_error(live, read):
    with capture_logs() as logs:
        async with live.listen("") as socket:
            await socket.send(b"no sound of a known kind")
            await read(socket)
        await live.idle()
    line = line_of(logs, "session_closed")
    assert line["close_code"] == 1008
    assert "add encoding=linear16 and sample_rate" in line["error"]
    assert live.services.metrics.errors.labels("UNDECODABLE_AUDIO")._value.get() == 1
