"""What broken and hostile clients do; each gets its own answer and no other stream notices."""

import asyncio
import json
from contextlib import suppress

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from earshot.service.gateway.connections import MAX_HEADER_BYTES

CLOSE = '{"type": "CloseStream"}'


@pytest.fixture
async def bystander(live, tone, read, text_of):
    """A stream that is open through the whole test and must hear its own words, no more no less."""
    async with live.listen() as socket:
        await socket.send(tone(0.5, 0.11))
        yield
        await socket.send(tone(0.5, 0.12))
        await socket.send(CLOSE)
        assert text_of(await read(socket)) == "w11 w12"
        assert socket.close_code == 1000


@pytest.mark.usefixtures("bystander")
async def test_a_client_killed_mid_word_frees_its_stream(live, tone):
    socket = await live.listen()
    await socket.send(tone(0.3, 0.9))
    await socket.send('{"type": "Finalize"}')
    await socket.recv()
    socket.transport.abort()
    await asyncio.wait_for(live.engine.freed.wait(), 60)
    assert live.engine.opened[-1].cancelled


@pytest.mark.usefixtures("bystander")
async def test_a_client_that_closes_without_close_stream_frees_its_stream(live, tone):
    async with live.listen() as socket:
        await socket.send(tone(0.3, 0.9))
    await asyncio.wait_for(live.engine.freed.wait(), 60)
    assert live.engine.opened[-1].cancelled


@pytest.mark.usefixtures("bystander")
async def test_garbage_text_is_answered_and_the_stream_goes_on(live, tone, read, text_of):
    async with live.listen() as socket:
        for garbage in ("\x00\x01", "{", '{"type": 7}'):
            await socket.send(garbage)
            assert json.loads(await socket.recv())["variant"] == "SchemaError"
        await socket.send(tone(0.5, 0.3))
        await socket.send(CLOSE)
        assert text_of(await read(socket)) == "w30"


@pytest.mark.usefixtures("bystander")
async def test_garbage_bytes_without_an_encoding_are_1008(live, read):
    async with live.listen("") as socket:
        await socket.send(bytes(range(256)) * 10)
        (error,) = await read(socket)
    assert error["variant"] == "UNDECODABLE_AUDIO"
    assert (socket.close_code, socket.close_reason[:9]) == (1008, "DATA-0000")


@pytest.mark.usefixtures("bystander")
@pytest.mark.parametrize("value", [np.nan, np.inf, 3e38])
async def test_floats_that_are_no_audio_are_1008(live, read, value):
    async with live.listen("encoding=linear32&sample_rate=48000") as socket:
        await socket.send(np.array([0.0, value] * 100, "<f4").tobytes())
        await read(socket)
    assert (socket.close_code, socket.close_reason[:9]) == (1008, "DATA-0000")


@pytest.mark.usefixtures("bystander")
async def test_ten_megabytes_in_one_frame_are_1009(live, read):
    async with live.listen() as socket:
        with suppress(ConnectionClosed):  # the server may close before all was sent
            await socket.send(bytes(10 << 20))
        await read(socket)
    assert socket.close_code == 1009


@pytest.mark.usefixtures("bystander")
async def test_invalid_utf8_is_1007_and_no_fault_of_ours(live, read, caplog):
    async with live.listen() as socket:
        await socket.send(b"\xff\xfe", text=True)
        await read(socket)
    assert socket.close_code == 1007
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


@pytest.mark.usefixtures("bystander")
async def test_a_broken_frame_is_1002(live, read):
    async with live.listen() as socket:
        socket.transport.write(b"\xff\xff\xff\xff")
        await read(socket)
    assert socket.close_code == 1002


async def test_half_a_header_is_408_after_the_deadline(serve):
    async with serve(header_timeout_s=0.1) as server, server.raw() as (reader, writer):
        writer.write(b"GET /v1/listen HTTP/1.1\r\nHost: x\r\n")
        assert (await asyncio.wait_for(reader.read(), 60)).startswith(b"HTTP/1.1 408 ")


async def test_half_a_second_header_is_408_too(serve):
    async with serve(header_timeout_s=0.5) as server, server.raw() as (reader, writer):
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in await reader.readuntil(b'"ok"}')
        writer.write(b"GET /hea")
        assert (await asyncio.wait_for(reader.read(), 60)).startswith(b"HTTP/1.1 408 ")


async def test_the_deadline_spares_requests_whose_header_is_complete(serve, tone, read, text_of):
    async with serve(header_timeout_s=0.5) as server, server.listen() as socket:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(socket.recv(), 0.7)
        await socket.send(tone(0.5, 0.3))
        await socket.send(CLOSE)
        assert text_of(await read(socket)) == "w30"


@pytest.mark.usefixtures("bystander")
async def test_a_request_that_is_no_http_is_400(live):
    async with live.raw() as (reader, writer):
        writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n")
        assert (await asyncio.wait_for(reader.read(), 60)).startswith(b"HTTP/1.1 400 ")


async def test_a_handshake_with_too_many_headers_is_431(live):
    async with live.raw() as (reader, writer):
        writer.write(
            b"GET /v1/listen HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + b"".join(b"X-%d: 1\r\n" % number for number in range(200))
            + b"\r\n"
        )
        assert (await asyncio.wait_for(reader.read(), 60)).startswith(b"HTTP/1.1 431 ")


async def test_a_header_that_is_too_large_is_431_without_a_body(live):
    async with live.raw() as (reader, writer):
        # To the last byte that is still read, so that no reset overtakes the answer.
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: ".ljust(MAX_HEADER_BYTES, b"x"))
        await writer.drain()
        writer.write(b"x")
        answer = await asyncio.wait_for(reader.read(), 60)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert answer.endswith(b"content-length: 0\r\n\r\n")


async def test_a_header_without_end_ends_the_connection(live):
    async with live.raw() as (reader, writer):
        writer.write(b"GET /" + b"x" * 200_000)
        with suppress(ConnectionResetError):  # a reset may overtake the 431: we are still sending
            answer = await asyncio.wait_for(reader.read(), 60)
            assert answer.startswith(b"HTTP/1.1 431 ")
        assert reader.at_eof() or reader.exception() is not None


@pytest.mark.usefixtures("bystander")
async def test_a_stream_whose_decoding_breaks_fails_alone(live, tone, read):
    from earshot.streaming.errors import DecodingFailed

    async with live.listen() as socket:
        await socket.send(tone(0.5))
        await socket.send('{"type": "Finalize"}')
        await socket.recv()
        live.engine.opened[-1].fail(DecodingFailed("inner secret"))
        (error,) = await read(socket)
    assert (socket.close_code, socket.close_reason) == (1011, "NET-0000: internal error")
    assert "secret" not in json.dumps(error)
