"""SIGTERM lets every live stream end with its last words, and nobody new in."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from server_process import Server, served
from socket_client import CLOSE_STREAM, Transcript, receive, send
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

STREAMS = 5
TEXT = "广州市房地产中介协会分析"


@pytest.fixture
def audio(golden_dir: Path, linear16: Callable[[Path], bytes]) -> bytes:
    return linear16(golden_dir / "wavs" / "aishell-BAC009S0724W0121.wav")


async def half_spoken(server: Server, audio: bytes) -> ClientConnection:
    """Open a stream and speak until its first partial shows that it is being decoded."""
    url = server.listen_url(endpointing="false", interim_results="true")
    socket = await connect(url)
    await send(socket, audio[: len(audio) // 4 * 2])
    await socket.recv()
    return socket


async def exit_code(server: Server) -> int:
    return await asyncio.to_thread(server.process.wait, 30)


async def refusal(server: Server) -> Response:
    """Ask for streams until one is refused."""
    async with asyncio.timeout(60):
        while True:
            try:
                async with connect(server.listen_url()):
                    pass
            except InvalidStatus as error:
                return error.response


async def test_live_streams_end_with_their_whole_text(golden_model_dir: Path, audio: bytes) -> None:
    with served("--model", str(golden_model_dir)) as server:
        sockets = [await half_spoken(server, audio) for _ in range(STREAMS)]
        server.process.send_signal(signal.SIGTERM)
        answer = await refusal(server)
        assert answer.status_code == 503
        assert "Retry-After" in answer.headers
        async with httpx.AsyncClient(timeout=60) as client:
            assert (await client.get(server.http("/readyz"))).status_code == 503
        heard = [Transcript() for _ in sockets]
        receiving = asyncio.gather(*map(receive, sockets, heard))
        for socket in sockets:
            await send(socket, audio[len(audio) // 4 * 2 :])
            await socket.send(CLOSE_STREAM)
        await receiving
        assert [stream.text for stream in heard] == [TEXT] * STREAMS
        assert [stream.close_code for stream in heard] == [1000] * STREAMS
        assert await exit_code(server) == 0


async def test_stream_that_does_not_end_is_flushed_and_told_to_come_back(
    golden_model_dir: Path, audio: bytes
) -> None:
    with served("--model", str(golden_model_dir), "--drain-s", "0.5") as server:
        heard = Transcript()
        async with connect(server.listen_url(endpointing="false")) as socket:
            await send(socket, audio)
            # An answered message says that the audio before it has arrived.
            await socket.send("?")
            await socket.recv()
            receiving = asyncio.create_task(receive(socket, heard))
            server.process.send_signal(signal.SIGTERM)
            await receiving
        assert heard.text == TEXT
        assert heard.close_code == 1012
        assert await exit_code(server) == 0
