"""What the log says of a session when it is over, and whose stream an engine decodes."""

import json

import pytest
from structlog.testing import capture_logs


async def test_the_last_line_of_a_session_counts_its_finals(live, tone, read):
    with capture_logs() as logs:
        async with live.listen() as socket:
            for _ in range(2):
                await socket.send(tone(0.5))
                await socket.send(json.dumps({"type": "Finalize"}))
            await socket.send(json.dumps({"type": "CloseStream"}))
            await read(socket)
        await live.idle()
    [closed] = [line for line in logs if line["event"] == "session_closed"]
    assert (closed["finals"], closed["late_finals"]) == (3, 0)
    assert closed["worst_lag_s"] >= 0


@pytest.mark.parametrize(("channels", "named"), [("1", [0]), ("2&multichannel=true", [0, 1])])
async def test_live_streams_have_the_name_of_their_request_and_channel(live, read, channels, named):
    query = f"encoding=linear16&sample_rate=16000&channels={channels}"
    async with live.listen(query) as socket:
        request_id = socket.response.headers["dg-request-id"]
        await socket.send(json.dumps({"type": "CloseStream"}))
        await read(socket)
    names = [(stream.name.request_id, stream.name.channel) for stream in live.engine.opened]
    assert names == [(request_id, channel) for channel in named]


async def test_a_files_stream_has_the_name_of_its_request(live, tone):
    query = "encoding=linear16&sample_rate=16000"
    async with live.client() as client:
        answer = await client.post(f"/v1/listen?{query}", content=tone(0.5))
    [stream] = live.engine.opened
    assert stream.name.request_id == answer.headers["dg-request-id"]
