"""A client of /v1/listen that streams 16 kHz linear16 and keeps everything it is told."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

PACKET_BYTES = 8000  # a quarter of a second
CLOSE_STREAM = '{"type": "CloseStream"}'

Message: TypeAlias = dict[str, Any]


@dataclass
class Transcript:
    """Everything one stream was told, and how its socket was closed."""

    messages: list[Message] = field(default_factory=list)
    close_code: int | None = None

    def of_type(self, kind: str) -> list[Message]:
        """The messages of one type, in order."""
        return [message for message in self.messages if message["type"] == kind]

    @property
    def partials(self) -> list[str]:
        """The texts of the interim results."""
        return [transcript(m) for m in self.of_type("Results") if not m["is_final"]]

    @property
    def text(self) -> str:
        """The text of all finals."""
        finals = [transcript(m) for m in self.of_type("Results") if m["is_final"]]
        return " ".join(text for text in finals if text)


Listen: TypeAlias = Callable[..., Awaitable[Transcript]]


def transcript(results: Message) -> str:
    """The text of the first alternative of a Results message."""
    text: str = results["channel"]["alternatives"][0]["transcript"]
    return text


async def receive(socket: ClientConnection, heard: Transcript) -> None:
    """Collect messages until the socket is closed, whoever closes it."""
    with contextlib.suppress(ConnectionClosed):
        async for message in socket:
            heard.messages.append(json.loads(message))
    heard.close_code = socket.close_code


async def send(socket: ClientConnection, audio: bytes) -> None:
    """Send audio in packets as fast as it is taken."""
    for start in range(0, len(audio), PACKET_BYTES):
        await socket.send(audio[start : start + PACKET_BYTES])


async def listen(url: str, audio: bytes, end: str = CLOSE_STREAM) -> Transcript:
    """Stream ``audio`` through one socket, ask for the last results, hear it to its end."""
    heard = Transcript()
    async with connect(url) as socket:
        receiving = asyncio.create_task(receive(socket, heard))
        with contextlib.suppress(ConnectionClosed):
            await send(socket, audio)
            await socket.send(end)
        await receiving
    return heard
