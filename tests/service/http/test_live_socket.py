"""Frames that are no messages: pings, pongs and pieces, too many of them or never read."""

import asyncio
import json
import socket as socket_module
import struct
from contextlib import asynccontextmanager, suppress

import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from earshot.service.http import read_pace
from earshot.service.http.live_socket import PIECE_BYTES, LiveSocket
from earshot.service.http.read_pace import ReadPace
from earshot.service.sessions import live_session
from earshot.service.sessions.session import Session

QUERY = "encoding=linear16&sample_rate=16000"
HANG_S = 60.0
FRAME_BYTES = 6  # the smallest that a client sends: its mask takes four


class FrameClient:
    """A client that sends frames one by one, as no library does."""

    def __init__(self, reader, writer, url):
        self.reader, self.writer = reader, writer
        self.protocol = ClientProtocol(parse_uri(url))
        self.frames = []

    async def open(self):
        self.protocol.send_request(self.protocol.connect())
        self.writer.writelines(self.protocol.data_to_send())
        while self.protocol.state is not State.OPEN:
            self.protocol.receive_data(await self.reader.read(1 << 16))
        self.protocol.events_received()

    def send(self, *frames):
        for opcode, data, fin in frames:
            self.writer.write(Frame(opcode, data, fin).serialize(mask=True))

    async def read_until(self, opcode, count=1):
        """Read until so many such frames have come; raises TimeoutError where they never do."""
        async with asyncio.timeout(HANG_S):
            while self.count(opcode) < count:
                data = await self.reader.read(1 << 16)
                assert data, f"closed after {self.frames}"
                self.protocol.receive_data(data)
                self.frames += self.protocol.events_received()

    def count(self, opcode):
        return sum(frame.opcode is opcode for frame in self.frames)


@asynccontextmanager
async def client_of(server, receive_bytes=None):
    plug = socket_module.socket()
    if receive_bytes is not None:
        plug.setsockopt(socket_module.SOL_SOCKET, socket_module.SO_RCVBUF, receive_bytes)
    plug.connect(("127.0.0.1", server.port))
    reader, writer = await asyncio.open_connection(sock=plug, limit=1 << 10)
    client = FrameClient(reader, writer, f"{server.ws}/v1/listen?{QUERY}")
    try:
        await client.open()
        yield client
    finally:
        writer.transport.abort()


class Rests:
    """Rests of the reading, each of which lasts until the test ends it."""

    def __init__(self, monkeypatch):
        self.frames = 0  # that were taken into account so far
        self._begun = asyncio.Queue()
        rest = LiveSocket._rest

        def begin(socket, delay_s):
            rest(socket, delay_s=3600.0)
            self._begun.put_nowait(socket)

        monkeypatch.setattr(LiveSocket, "_rest", begin)
        monkeypatch.setattr(ReadPace, "delay_s", lambda _, message, now_s: self._cost(message))
        monkeypatch.setattr(ReadPace, "piece_delay_s", lambda _, now_s: self._cost(b""))

    def _cost(self, message):
        """Of what is no message, enough to rest."""
        self.frames += message == b""
        return 1.0 * (message == b"")

    async def next(self):
        """The socket, when it rests."""
        return await asyncio.wait_for(self._begun.get(), HANG_S)

    @staticmethod
    def end(socket):
        socket._resting.cancel()
        socket._read_on()


@pytest.fixture
def rests(monkeypatch):
    return Rests(monkeypatch)


PING = (Opcode.PING, b"", True)
GARBAGE = (Opcode.TEXT, b"garbage", True)


async def test_a_client_that_pings_and_never_reads_is_closed(serve, monkeypatch, capsys):
    monkeypatch.setattr(read_pace, "MESSAGE_S", 0.0)  # or it would take its time
    async with serve(max_outbox_bytes=20_000) as server, client_of(server, 4096) as client:
        with suppress(ConnectionError):
            async with asyncio.timeout(20):
                while True:
                    client.send(*[(Opcode.PING, bytes(125), True)] * 100)
                    await client.writer.drain()
        await asyncio.wait_for(server.idle(), 10)
        assert server.engine.opened[0].cancelled
        assert server.services.metrics.errors.labels("SLOW_READER")._value.get() == 1
    closed = next(line for line in capsys.readouterr().out.splitlines() if "session_closed" in line)
    assert "1008" in closed
    assert "bytes of pongs are unread" in closed


async def test_it_finds_the_close_code_when_it_reads_after_all(serve, monkeypatch):
    monkeypatch.setattr(read_pace, "MESSAGE_S", 0.0)
    async with serve(max_outbox_bytes=20_000) as server, client_of(server, 4096) as client:
        while not server.engine.freed.is_set():
            client.send(*[(Opcode.PING, bytes(125), True)] * 100)
            await asyncio.sleep(0)
        await client.read_until(Opcode.CLOSE)
    close = client.frames[-1]
    assert close.opcode is Opcode.CLOSE
    assert struct.unpack("!H", close.data[:2]) == (1008,)
    assert close.data[2:10] == b"NET-0004"


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(PING, id="pings"),
        pytest.param((Opcode.PONG, b"", True), id="pongs that nobody asked for"),
        pytest.param((Opcode.CONT, b"", False), id="empty pieces of a message"),
    ],
)
async def test_a_storm_of_frames_waits_for_the_pace_of_reading(live, rests, frame):
    in_pieces = frame[0] is Opcode.CONT
    storm = [frame] * (3 * PIECE_BYTES // FRAME_BYTES)
    first = (Opcode.TEXT, b"", False) if in_pieces else GARBAGE
    last = (Opcode.CONT, b"garbage", True) if in_pieces else GARBAGE
    async with client_of(live) as client, live.client() as other:
        client.send(first, *storm, last)
        heard = 0
        while heard < len(storm):
            socket = await rests.next()
            before, heard = heard, rests.frames
            assert heard - before <= PIECE_BYTES // FRAME_BYTES + 1
            await other.get("/healthz")  # whatever else the loop does: it reads nothing here
            assert rests.frames == heard
            rests.end(socket)
        await client.read_until(Opcode.TEXT, count=1 if in_pieces else 2)
        assert client.count(Opcode.PONG) == (len(storm) if frame is PING else 0)


async def test_what_waits_behind_a_storm_is_heard_in_order(live, tone):
    async with client_of(live) as client:
        for level in (10, 20, 30):
            client.send(*[PING] * 60, (Opcode.BINARY, tone(0.5, level / 100), True))
        client.send(*[PING] * 60, (Opcode.TEXT, b'{"type": "Finalize"}', True))
        await client.read_until(Opcode.TEXT)
        final = next(frame for frame in client.frames if frame.opcode is Opcode.TEXT)
    said = json.loads(final.data)["channel"]["alternatives"][0]["transcript"]
    assert said == "w10 w20 w30"
    assert client.count(Opcode.PONG) == 240


async def test_a_few_pings_are_answered_at_once(live, monkeypatch):
    delays = []
    pace = ReadPace.delay_s
    monkeypatch.setattr(
        ReadPace, "delay_s", lambda *arguments: delays.append(pace(*arguments)) or delays[-1]
    )
    async with client_of(live) as client:
        client.send(*[PING] * 20)
        await client.read_until(Opcode.PONG, count=20)
    assert max(delays) == 0.0


@pytest.fixture
def looks(monkeypatch):
    """Counts how often a session that would be idle has asked whether its reading rests.

    It is not idle either while its reading does not rest: the client may be slow then.
    """
    seen = asyncio.Semaphore(0)

    class Watched(Session):
        def __init__(self, *arguments):
            *before, reading_rests, trace, opens, unpacks = arguments

            def rests():
                return not reading_rests() or self._look()

            super().__init__(*before, rests, trace, opens, unpacks)

        def _look(self):
            seen.release()
            return True

    monkeypatch.setattr(live_session, "Session", Watched)
    return seen


async def test_a_client_held_up_by_its_own_pings_is_not_called_idle(serve, rests, looks, tone):
    pings = [PING] * (2 * PIECE_BYTES // FRAME_BYTES)
    async with serve(idle_timeout_s=0.02) as server, client_of(server) as client:
        client.send(*pings, (Opcode.BINARY, tone(0.5, 0.2), True))
        client.send((Opcode.TEXT, b'{"type": "CloseStream"}', True))
        heard = 0
        while heard < len(pings):
            socket = await rests.next()
            heard = rests.frames
            async with asyncio.timeout(HANG_S):
                for _ in range(3):
                    await looks.acquire()
            rests.end(socket)
        await client.read_until(Opcode.CLOSE)
        assert client.frames[-1].data == struct.pack("!H", 1000)
