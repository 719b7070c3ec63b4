"""Wyoming's events on a TCP connection, as a session reads and writes messages.

An event is a line of JSON, which says how many bytes of more JSON and of payload follow it.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocketDisconnect

from earshot.service.errors import BadRequest
from earshot.service.sessions.json_object import object_of

MAX_LINE_BYTES = 8 * 1024
MAX_DATA_BYTES = 64 * 1024
CLOSE_TIMEOUT_S = 5.0
"""For the client to read what is left, and to close its side."""

CHUNK = "audio-chunk"


class BadEvent(BadRequest):
    """The bytes are no event of Wyoming's; where the next one begins is unknown."""


class EventSocket:
    """What a session takes for a socket: samples are binary messages, other events text."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, max_payload_bytes: int
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._max_payload_bytes = max_payload_bytes
        self._ended = asyncio.Event()

    async def receive(self) -> Mapping[str, Any]:
        """The next event. Raises BadEvent."""
        try:
            event, payload = await self._read()
        except BadEvent:
            self._ended.set()
            raise
        except (asyncio.IncompleteReadError, OSError):
            self._ended.set()
            return {"type": "websocket.disconnect", "code": 1006}
        if event.get("type") == CHUNK:
            return {"type": "websocket.receive", "bytes": payload}
        return {"type": "websocket.receive", "text": json.dumps(event)}

    async def send_text(self, data: str) -> None:
        """Write an event; its data stand in its line. Raises WebSocketDisconnect."""
        try:
            self._writer.write(data.encode() + b"\n")
            await self._writer.drain()
        except OSError as error:
            raise WebSocketDisconnect(1006) from error

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        """End the connection when the client has read all; the protocol has no word for why.

        A client that neither reads nor closes is cut off.
        """
        transport = self._writer.transport
        asyncio.get_running_loop().call_later(CLOSE_TIMEOUT_S, transport.abort)
        with suppress(OSError, RuntimeError, TimeoutError):
            transport.write_eof()  # to close now would reset it where audio is unread
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._ended.wait()
        self._writer.close()

    async def _read(self) -> tuple[dict[str, Any], bytes]:
        event = await self._line()
        if length := _length(event, "data_length", MAX_DATA_BYTES):
            data = await self._reader.readexactly(length)
            if event.get("type") != CHUNK:  # the start has said what is in a chunk
                event["data"] = {**(event.get("data") or {}), **_object(data)}
        length = _length(event, "payload_length", self._max_payload_bytes)
        return event, await self._reader.readexactly(length)

    async def _line(self) -> dict[str, Any]:
        try:
            line = await self._reader.readuntil()
        except asyncio.LimitOverrunError as error:
            raise BadEvent(f"a line of more than {MAX_LINE_BYTES} bytes") from error
        event = _object(line)
        if not isinstance(event.get("data", {}) or {}, dict):
            raise BadEvent("data: must be an object")
        return event


def _object(text: bytes) -> dict[str, Any]:
    found = object_of(text.decode(errors="replace"), len(text))
    if found is None:
        raise BadEvent("an event is an object of JSON")
    return found


def _length(event: Mapping[str, Any], name: str, most: int) -> int:
    length = event.get(name) or 0
    if type(length) is not int or not 0 <= length <= most:
        raise BadEvent(f"{name}: must be a whole number, {most} at most")
    return length
