"""Live streams over a real socket."""

import json

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus


async def messages(socket):
    """All messages until the socket closes."""
    received = []
    try:
        async for message in socket:
            received.append(json.loads(message))
    except ConnectionClosed:
        pass
    return received


def text(received):
    return " ".join(
        each["channel"]["alternatives"][0]["transcript"]
        for each in received
        if each["type"] == "Results" and each["is_final"]
    )


async def test_a_stream_gives_partials_a_final_and_metadata(live, tone):
    async with live.listen("encoding=linear16&sample_rate=16000&interim_results=true") as socket:
        await socket.send(tone(0.5, 0.1))
        await socket.send(tone(0.5, 0.2))
        await socket.send('{"type": "CloseStream"}')
        received = await messages(socket)
    assert [each["type"] for each in received] == ["Results", "Results", "Metadata"] or [
        each["type"] for each in received
    ] == ["Results", "Results", "Results", "Metadata"]
    assert text(received) == "w10 w20"
    assert received[-1]["duration"] == 1.0
    assert socket.close_code == 1000
    assert socket.response.headers["dg-request-id"] == received[-1]["request_id"]
