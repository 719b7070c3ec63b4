"""The socket without a path: whose it is its first message says."""

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed


@pytest.mark.parametrize("message", ["garbage", "[1]", '{"hello": 1}', "[" * 100_000])
async def test_a_message_that_nobody_claims_closes_it_with_what_is_spoken(live, message):
    async with connect(f"{live.ws}/", proxy=None) as socket:
        await socket.send(message)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd.code == 1008
    assert 'WeNet\'s {"signal": "start"} or Vosk\'s {"config"} or audio' in closed.value.rcvd.reason


async def test_who_says_nothing_is_idle(serve):
    async with serve(idle_timeout_s=0.1) as server, connect(f"{server.ws}/", proxy=None) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert "no message for 0.1 s" in closed.value.rcvd.reason


async def test_no_stream_is_opened_before_the_first_message(live):
    async with connect(f"{live.ws}/", proxy=None):
        assert not live.engine.opened
    await live.idle()


async def test_who_waits_for_a_server_that_stops_is_told_to_come_again(serve):
    async with serve() as server, connect(f"{server.ws}/", proxy=None) as socket:
        server.server.should_exit = True
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd.code == 1012
