"""What a server does whose engine has ended by itself."""

import asyncio
import json
import subprocess
import sys

import pytest
from structlog.testing import capture_logs
from websockets.exceptions import InvalidStatus

from earshot.service.core.engine_setup import warm_up
from earshot.service.errors import StartupError
from earshot.service.gateway.server import Server
from earshot.streaming.errors import DecodingFailed


@pytest.fixture
async def kept(serve, monkeypatch):
    """A server that would go on for ever, so that what it answers can be seen."""
    on_tick = Server.on_tick

    async def going_on(self, counter):
        return self.should_exit and await on_tick(self, counter)

    monkeypatch.setattr(Server, "on_tick", going_on)
    async with serve() as server:
        yield server


async def test_everybody_is_told_at_once_that_the_engine_has_stopped(kept):
    kept.engine.die()
    async with kept.client() as client:
        answers = [
            await client.get("/readyz"),
            await client.get("/healthz"),
            await client.post("/v1/listen", content=b"RIFF"),
        ]
    for answer in answers:
        assert answer.status_code == 503
        body = answer.json()
        assert (body["err_code"], body["err_msg"]) == (
            "SERVICE_UNAVAILABLE",
            "the engine has stopped",
        )
        assert body["request_id"] == answer.headers["dg-request-id"]
        assert int(answer.headers["retry-after"]) > 0
    with pytest.raises(InvalidStatus) as refused:
        await kept.listen()
    assert refused.value.response.status_code == 503
    assert json.loads(refused.value.response.body)["err_msg"] == "the engine has stopped"


async def test_while_an_engine_is_late_nobody_is_let_in_and_the_server_stays(live, tone, read):
    async with live.listen() as socket, live.client() as client:
        live.engine.late = True
        ready = await client.get("/readyz")
        file = await client.post("/v1/listen", content=b"RIFF")
        for answer in (ready, file):
            assert answer.status_code == 503
            assert answer.json()["err_msg"] == "an engine does not answer"
            assert int(answer.headers["retry-after"]) > 0
        with pytest.raises(InvalidStatus) as refused:
            await live.listen()
        assert refused.value.response.status_code == 503
        assert (await client.get("/healthz")).status_code == 200
        await socket.send(tone(0.5))
        live.engine.late = False
        assert (await client.get("/readyz")).status_code == 200
        await socket.send('{"type": "CloseStream"}')
        assert [message["type"] for message in await read(socket)] == ["Results", "Metadata"]
    assert not live.server.engine_failed


async def test_the_server_ends_and_open_sockets_are_told_to_reconnect(serve, tone, read, capsys):
    async with serve(drain_s=600) as server:
        async with server.listen() as socket:
            await socket.send(tone(0.5))
            await socket.send('{"type": "Finalize"}')
            await socket.recv()
            server.engine.die()
            await read(socket)
            assert (socket.close_code, socket.close_reason[:8]) == (1012, "NET-0003")
        await asyncio.wait_for(asyncio.shield(server.task), 10)
        assert server.server.engine_failed
    assert "engine_failed" in capsys.readouterr().out


async def test_sessions_of_an_engine_that_ended_are_logged_and_counted_as_failed(kept, tone, read):
    with capture_logs() as logs:
        async with kept.listen() as socket:
            await socket.send(tone(0.5))
            await socket.send('{"type": "Finalize"}')
            await socket.recv()
            kept.engine.die()
            await read(socket)
        await kept.idle()
    [closed] = [line for line in logs if line["event"] == "session_closed"]
    assert closed["close_code"] == 1012
    assert closed["error"] == "EngineStopped('the engine was stopped')"
    count = kept.services.metrics.registry.get_sample_value
    assert count("earshot_errors_total", {"code": "SERVICE_UNAVAILABLE"}) == 1


async def test_a_drain_is_no_failure_of_its_sessions(serve, tone, read):
    with capture_logs() as logs:
        async with serve(drain_s=0) as server, server.listen() as socket:
            await socket.send(tone(0.5))
            server.server.should_exit = True
            await read(socket)
            assert socket.close_code == 1012
    [closed] = [line for line in logs if line["event"] == "session_closed"]
    assert closed["error"] is None


async def test_an_engine_that_ends_while_the_server_drains_is_noticed(serve, tone):
    async with serve(drain_s=600) as server, server.listen() as socket:
        await socket.send(tone(0.5))
        server.server.should_exit = True
        await asyncio.wait_for(server.draining(), 5)
        server.engine.die()
        await asyncio.wait_for(socket.wait_closed(), 10)
        await asyncio.wait_for(asyncio.shield(server.task), 10)
        assert server.server.engine_failed


async def test_a_server_that_is_stopped_has_no_failed_engine(serve):
    async with serve() as server:
        server.server.should_exit = True
        await asyncio.wait_for(asyncio.shield(server.task), 10)
        assert not server.server.engine_failed


def test_a_model_that_does_not_decode_is_not_served(engine):
    def opened_and_failed(config, sink):
        stream = type(engine).open(engine, config, sink)
        stream.fail(DecodingFailed("decoding failed: RuntimeError"))
        return stream

    engine.open = opened_and_failed
    with pytest.raises(StartupError, match="does not decode: decoding failed: RuntimeError"):
        warm_up(engine)


def test_a_process_ends_in_time_although_a_thread_hangs():
    script = (
        "import threading; from earshot.service.gateway.exit_deadline import end_within; "
        "end_within(0.1, 70); "
        "threading.Thread(target=threading.Event().wait).start()"
    )
    assert subprocess.run([sys.executable, "-c", script], timeout=60, check=False).returncode == 70
