"""The application under an ASGI server that is not ours: it serves, and nothing drains."""

import asyncio

import pytest
import uvicorn
from websockets.asyncio.client import connect

from earshot.service.core.metrics import Metrics
from earshot.service.core.services import Services
from earshot.service.gateway.app import create_app
from earshot.service.gateway.server import bind
from earshot.service.served_model import ServedModel
from earshot.service.settings import Settings

LISTEN = "v1/listen?encoding=linear16&sample_rate=16000"


@pytest.fixture
async def stock(engine):
    """A plain uvicorn, and its address."""
    engine.loop = asyncio.get_running_loop()
    services = Services.build(engine, ServedModel("m", "1", "a", "u"), Settings(), Metrics())
    server = uvicorn.Server(
        uvicorn.Config(create_app(services), ws="websockets-sansio", log_config=None)
    )
    bound = bind("127.0.0.1", 0)
    bound.listen()
    task = asyncio.create_task(server.serve(sockets=[bound]))
    yield server, f"ws://127.0.0.1:{bound.getsockname()[1]}/{LISTEN}"
    server.should_exit = True
    async with asyncio.timeout(60):
        await task


async def test_a_live_stream_is_heard(stock, tone, read, text_of):
    _, address = stock
    async with connect(address, proxy=None) as socket:
        await socket.send(tone(0.5, 0.2))
        await socket.send('{"type": "CloseStream"}')
        assert text_of(await read(socket)) == "w20"


async def test_a_stream_that_is_live_when_it_stops_is_cut_off(stock, engine, tone, read, text_of):
    server, address = stock
    async with connect(address, proxy=None) as socket:
        await socket.send(tone(0.5, 0.2))
        await socket.send("?")
        await socket.recv()
        server.should_exit = True
        assert await read(socket) == []
    await asyncio.wait_for(engine.freed.wait(), 60)
