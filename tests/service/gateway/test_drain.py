"""How a server stops."""

import asyncio
import json
import os
import signal

import pytest
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.protocol import State
from websockets.uri import parse_uri

CLOSE = '{"type": "CloseStream"}'


async def test_a_drain_refuses_what_is_new_and_lets_live_streams_finish(serve, tone, read, text_of):
    async with serve(drain_s=30) as server, server.listen() as socket, server.client() as client:
        await socket.send(tone(0.5, 0.2))
        await socket.send('{"type": "Finalize"}')
        await socket.recv()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(server.draining(), 60)
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200
        refused = await client.post("/v1/listen", content=b"x")
        assert (refused.status_code, refused.json()["err_code"]) == (503, "SERVICE_UNAVAILABLE")
        with pytest.raises(InvalidStatus) as caught:
            await server.listen()
        assert caught.value.response.status_code == 503
        assert int(caught.value.response.headers["retry-after"]) > 0

        await socket.send(tone(0.5, 0.3))
        await socket.send(CLOSE)
        assert text_of(await read(socket)) == "w30"
        assert socket.close_code == 1000
        await asyncio.wait_for(server.task, 60)


async def test_when_the_time_is_over_streams_are_flushed_and_told_to_reconnect(
    serve, tone, read, text_of
):
    async with serve(drain_s=0.1) as server:
        sockets = [await server.listen() for _ in range(3)]
        for level, socket in enumerate(sockets, start=1):
            await socket.send(tone(0.5, level / 10))
            await socket.send('{"type": "KeepAlive"}')
        # An answered message says that the audio before it has arrived.
        for socket in sockets:
            await socket.send("?")
            await socket.recv()
        server.server.should_exit = True
        for level, socket in enumerate(sockets, start=1):
            received = await read(socket)
            assert text_of(received) == f"w{level}0"
            assert received[-1]["type"] == "Metadata"
            assert socket.close_code == 1012
        await asyncio.wait_for(server.task, 60)


async def test_a_file_that_is_not_done_in_time_is_503(serve):
    import io

    import numpy as np
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, np.zeros(16000 * 30), 16000, format="WAV")
    async with serve(drain_s=0.1) as server, server.client() as client:
        server.engine.paused = True
        request = asyncio.create_task(client.post("/v1/listen", content=file.getvalue()))
        await server.engine.full.wait()
        server.server.should_exit = True
        answer = await request
        assert (answer.status_code, answer.json()["err_code"]) == (503, "SERVICE_UNAVAILABLE")


async def test_a_second_signal_stops_at_once(serve, tone):
    async with serve(drain_s=600) as server, server.listen() as socket:
        await socket.send(tone(0.5))
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait_for(server.draining(), 60)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait_for(server.task, 60)
        await asyncio.wait_for(socket.wait_closed(), 60)
        assert socket.close_code == 1012


async def test_metadata_comes_before_the_close_of_a_drain(serve, tone):
    async with serve(drain_s=0.1) as server, server.listen() as socket:
        await socket.send(tone(0.6, 0.2))
        await socket.send("?")
        await socket.recv()
        server.server.should_exit = True
        final = json.loads(await socket.recv())
        metadata = json.loads(await socket.recv())
        assert (final["is_final"], metadata["duration"]) == (True, 0.6)


async def test_a_connection_stays_until_the_client_has_answered_the_close(serve, tone):
    """Closed before, with audio on its way, it is reset, and the code to reconnect on is lost."""
    async with serve(drain_s=0) as server, server.raw() as (reader, writer):
        query = "encoding=linear16&sample_rate=16000"
        client = ClientProtocol(parse_uri(f"{server.ws}/v1/listen?{query}"))
        client.send_request(client.connect())
        writer.write(b"".join(client.data_to_send()))
        while client.state is not State.OPEN:
            client.receive_data(await reader.read(1 << 16))
        client.send_binary(tone(3))
        late = b"".join(client.data_to_send())
        [connection] = server.server.server_state.connections
        shut_down, shutdown = asyncio.Event(), connection.shutdown
        connection.shutdown = lambda: (shutdown(), shut_down.set())
        server.server.should_exit = True
        while client.close_rcvd is None:
            client.receive_data(await reader.read(1 << 16))
        await asyncio.wait_for(shut_down.wait(), 60)
        assert not connection.transport.is_closing()
        writer.write(late + b"".join(client.data_to_send()))
        assert await asyncio.wait_for(reader.read(), 60) == b""
        assert client.close_rcvd.code == 1012
