"""Live streams over real sockets, decoded by the scripted engine."""

import asyncio
import json
import socket as socket_module
from urllib.parse import quote

import numpy as np
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from earshot.service.http.read_pace import ReadPace

CLOSE = '{"type": "CloseStream"}'
INTERIM = "encoding=linear16&sample_rate=16000&interim_results=true"


async def test_a_stream_gives_partials_a_final_and_metadata(live, tone, read):
    async with live.listen(INTERIM) as socket:
        await socket.send(tone(0.5, 0.1))
        first = json.loads(await socket.recv())
        await socket.send(tone(0.5, 0.2))
        second = json.loads(await socket.recv())
        await socket.send(CLOSE)
        final, metadata = await read(socket)
    assert [each["is_final"] for each in (first, second, final)] == [False, False, True]
    transcripts = [
        each["channel"]["alternatives"][0]["transcript"] for each in (first, second, final)
    ]
    assert transcripts == ["w10", "w10 w20", "w10 w20"]
    assert (metadata["type"], metadata["duration"]) == ("Metadata", 1.0)
    assert (socket.close_code, socket.close_reason) == (1000, "")
    assert socket.response.headers["dg-request-id"] == metadata["request_id"]


async def test_finalize_is_answered_even_without_words(live, tone):
    async with live.listen() as socket:
        await socket.send('{"type": "Finalize"}')
        message = json.loads(await socket.recv())
    assert message["from_finalize"]
    assert message["channel"]["alternatives"][0]["transcript"] == ""


@pytest.mark.parametrize("rate", [8000, 44100, 48000])
async def test_any_rate_is_heard_alike(live, tone, read, text_of, rate):
    async with live.listen(f"encoding=linear16&sample_rate={rate}") as socket:
        audio = tone(2.0, 0.3, rate)
        for at in range(0, len(audio), 777):
            await socket.send(audio[at : at + 777])
        await socket.send(CLOSE)
        assert text_of(await read(socket)) == "w30 w30 w30 w30"


async def test_audio_is_brought_to_the_models_rate(live, engine, tone, read, text_of):
    engine.sample_rate_hz = 8000
    async with live.listen() as socket:
        await socket.send(tone(1.0, 0.3))
        await socket.send(CLOSE)
        messages = await read(socket)
    assert (text_of(messages), messages[-1]["duration"]) == ("w30 w30", 1.0)
    await live.idle()
    received = live.services.metrics.registry.get_sample_value(
        "earshot_audio_seconds_total", {"kind": "live"}
    )
    assert received == pytest.approx(1.0, abs=0.01)


async def test_a_wav_needs_no_parameters(live, read, text_of, tone):
    import io
    import wave

    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setparams((1, 2, 16000, 0, "NONE", ""))
        wav.writeframes(tone(1.0, 0.4))
    async with live.listen("") as socket:
        await socket.send(file.getvalue())
        await socket.send(b"")
        assert text_of(await read(socket)) == "w40 w40"


async def test_an_offered_token_subprotocol_is_echoed(live):
    from websockets.asyncio.client import connect

    async with connect(
        f"{live.ws}/v1/listen?encoding=linear16&sample_rate=16000",
        subprotocols=["token", "any-key"],
        proxy=None,
    ) as socket:
        assert socket.subprotocol == "token"


async def test_configure_mid_stream(live):
    async with live.listen() as socket:
        await socket.send('{"type": "Configure", "keyterms": ["iced tea", "route 66"]}')
        success = json.loads(await socket.recv())
    assert (success["type"], success["keyterms"]) == ("ConfigureSuccess", ["iced tea", "route 66"])
    assert [each["phrase"] for each in success["warnings"]] == ["route 66"]
    assert [boost.phrase for boost in live.engine.opened[0].boosts] == ["iced tea", "route 66"]


@pytest.mark.parametrize(("wish", "told"), [("", 0), ("&warnings=true", 2)])
async def test_warnings_are_messages_for_who_asks_for_them(live, tone, read, wish, told):
    query = f"encoding=linear16&sample_rate=16000&keyterm=route%2066&keywords=5g:2{wish}"
    async with live.listen(query) as socket:
        await socket.send(tone(0.5, 0.2))
        await socket.send(CLOSE)
        messages = await read(socket)
    kinds = [each["type"] for each in messages]
    assert kinds == ["Warning"] * told + ["Results", "Metadata"]
    for carrier in (messages[-2]["metadata"], messages[-1]):
        assert [(each["parameter"], each["phrase"]) for each in carrier["warnings"]] == [
            ("keyterm", "route 66"),
            ("keywords", "5g"),
        ]


async def test_as_many_and_as_long_phrases_as_allowed_fit_into_a_handshake(live):
    phrases = [f"{index:03d}" + "語" * 17 for index in range(1000)]
    query = "&".join(f"keyterm={quote(phrase)}" for phrase in phrases)
    async with live.listen(f"encoding=linear16&sample_rate=16000&{query}"):
        assert [boost.phrase for boost in live.engine.opened[0].boosts] == phrases


@pytest.mark.parametrize(
    ("query", "status", "code", "named"),
    [
        ("encoding=opus", 400, "INVALID_QUERY_PARAMETER", "encoding=opus"),
        ("multichannel=true", 400, "INVALID_QUERY_PARAMETER", "needs channels"),
        ("model=nova-9", 400, "INVALID_QUERY_PARAMETER", "model=nova-9"),
        ("language=fr", 400, "INVALID_QUERY_PARAMETER", "the model knows en"),
        ("redact=pci", 400, "INVALID_QUERY_PARAMETER", "redact"),
        ("callback=http://x", 400, "INVALID_QUERY_PARAMETER", "callback"),
        ("keywords=tea%0d%0aX:y", 400, "INVALID_QUERY_PARAMETER", "weight"),
    ],
)  # fmt: skip
async def test_a_bad_handshake_is_refused_with_json(live, query, status, code, named):
    with pytest.raises(InvalidStatus) as caught:
        await live.listen(query)
    response = caught.value.response
    body = json.loads(response.body)
    assert (response.status_code, body["err_code"]) == (status, code)
    assert named in body["err_msg"]
    assert body["request_id"] == response.headers["dg-request-id"]
    assert named in response.headers["dg-error"]
    assert live.engine.opened == []


@pytest.mark.parametrize("model", ["nova-2-conversationalai", "NOVA-3", "whisper", ""])
async def test_any_name_that_clients_know_is_served_unless_the_server_is_strict(serve, model):
    query = f"encoding=linear16&sample_rate=16000&model={model}"
    async with serve() as server, server.listen(query):
        pass
    async with serve(strict_models=True) as server:
        with pytest.raises(InvalidStatus):
            await server.listen(query)


@pytest.mark.parametrize("path", ["/v3/listen", "/web/index.html", "/healthz"])
async def test_a_socket_to_an_unknown_path_is_refused_with_json(live, path):
    with pytest.raises(InvalidStatus) as refused:
        await connect(f"{live.ws}{path}", proxy=None)
    answer = refused.value.response
    body = json.loads(answer.body)
    assert (answer.status_code, body["err_code"]) == (404, "NOT_FOUND")
    assert body["request_id"] == answer.headers["dg-request-id"]
    assert answer.headers["dg-error"] == body["err_msg"]
    assert body["err_msg"].startswith(f"GET {path}: not found; served: /v1/listen (WebSocket")


async def test_over_the_stream_limit_is_429_before_accept(live, tone):
    live.engine.max_streams = 1
    async with live.listen() as first:
        with pytest.raises(InvalidStatus) as caught:
            await live.listen()
        response = caught.value.response
        assert response.status_code == 429
        assert int(response.headers["retry-after"]) > 0
        assert json.loads(response.body)["err_code"] == "TOO_MANY_REQUESTS"
        await first.send(CLOSE)
        await first.wait_closed()
    async with live.listen() as again:
        await again.send(tone(0.1))


async def test_an_idle_session_is_closed_and_keep_alive_prevents_it(serve, read):
    async with serve(idle_timeout_s=2.0) as server, server.listen() as socket:
        for _ in range(9):
            # Waiting for a message that does not come is this test's clock.
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(socket.recv(), 0.25)
            await socket.send('{"type": "KeepAlive"}')
        final, error, _ = await read(socket)
        assert final["is_final"]
        assert error["variant"] == "REQUEST_TIMEOUT"
        assert socket.close_code == 1011
        assert socket.close_reason.startswith("NET-0001")
        assert not server.engine.streams


async def test_a_full_backlog_stops_the_reading_and_loses_nothing(live, tone, read, text_of):
    live.engine.paused = True
    async with live.listen() as socket:
        # 1 MiB messages fill the backlog, then the server's and the kernel's buffers.
        sent = asyncio.create_task(send_all(socket, [tone(30, 0.3)] * 20))
        await live.engine.full.wait()
        stream = live.engine.opened[0]
        assert len(stream.undecoded) <= live.engine.max_backlog_s * 16000
        assert not sent.done()
        live.engine.resume()
        await sent
        assert text_of(await read(socket)) == " ".join(["w30"] * 1200)


async def send_all(socket, messages):
    for message in messages:
        await socket.send(message)
    await socket.send(CLOSE)


async def test_other_origins_are_refused(live, serve):
    headers = {"Origin": "https://evil.example"}
    with pytest.raises(InvalidStatus) as caught:
        await live.listen(headers=headers)
    assert caught.value.response.status_code == 403
    async with live.listen(headers={"Origin": live.http}):
        pass
    async with (
        serve(allowed_origins="https://evil.example") as open_server,
        open_server.listen(headers=headers),
    ):
        pass


async def test_a_message_waits_for_the_pace_of_reading(live, monkeypatch):
    paced = asyncio.Event()

    def delay_s(self, message, now_s):
        paced.set()
        return 3600.0

    monkeypatch.setattr(ReadPace, "delay_s", delay_s)
    async with live.listen() as socket:
        await socket.send("garbage")
        assert json.loads(await socket.recv())["variant"] == "SchemaError"
        await paced.wait()
        await socket.send("more garbage")
        pong = await socket.ping()
        await pong
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(socket.recv(), 0.1)
        assert not live.engine.opened[0].cancelled


async def test_a_slow_reader_is_closed_and_its_stream_freed(serve, tone):
    async with serve(send_timeout_s=0.3) as server:
        # The client's library stops reading when its queue is full; a small window then holds
        # the server up early.
        plug = socket_module.create_connection(("127.0.0.1", server.port))
        plug.setsockopt(socket_module.SOL_SOCKET, socket_module.SO_RCVBUF, 4096)
        slow = {"max_queue": 1, "ping_interval": None, "sock": plug}
        socket = await server.listen(INTERIM + "&alternatives=10", **slow)
        engine_freed = server.engine.freed
        try:
            while not engine_freed.is_set():
                await socket.send(tone(30.0))
                await socket.send('{"type": "Finalize"}')
        except ConnectionClosed:
            pass
        await asyncio.wait_for(engine_freed.wait(), 60)
        assert server.engine.opened[0].cancelled
        metrics = server.services.metrics.errors.labels("SLOW_READER")
        await asyncio.wait_for(server.idle(), 60)
        assert metrics._value.get() == 1
        socket.transport.abort()


async def test_logs_hold_no_text_unless_asked(serve, tone, read, capsys):
    for log_text in (False, True):
        async with serve(log_text=log_text) as server, server.listen() as socket:
            await socket.send(tone(0.5, 0.77))
            await socket.send(CLOSE)
            await read(socket)
        assert ("w77" in capsys.readouterr().out) is log_text


async def test_cross_talk_is_impossible(live, tone, read, text_of):
    live.engine.max_streams = 20

    async def one(level):
        async with live.listen(INTERIM) as socket:
            audio = tone(2.0, level / 100)
            for at in range(0, len(audio), 3200):
                await socket.send(audio[at : at + 3200])
            await socket.send(CLOSE)
            return text_of(await read(socket))

    texts = await asyncio.gather(*(one(level) for level in range(10, 30)))
    assert texts == [" ".join([f"w{level}"] * 4) for level in range(10, 30)]


async def test_linear32_is_heard(live, read, text_of):
    async with live.listen("encoding=linear32&sample_rate=16000") as socket:
        await socket.send(np.full(8000, 0.25, "<f4").tobytes())
        await socket.send(CLOSE)
        assert text_of(await read(socket)) == "w25"
