"""How one utterance is said to a server on a connection of its own, and what is heard of it."""

import json
from typing import Protocol

import numpy as np

from earshot.service.bench.caller import CLOSE_STREAM, QUERY

FULL_SCALE = 32768.0


class TalkFailed(Exception):
    """The server said so."""


class Talk(Protocol):
    """One utterance. `text` is what was recognised so far, `ended` that nothing more will come."""

    path: str
    goodbye: str
    text: str
    ended: bool

    def packet(self, pcm: bytes) -> bytes:
        """Linear16 as the server takes it."""
        ...

    def hear(self, data: str | bytes) -> None:
        """Take in a message; raises TalkFailed."""
        ...


class EarshotTalk:
    """With `earshot serve`: its last message is Metadata."""

    goodbye = CLOSE_STREAM

    def __init__(self, more_query: str = "") -> None:
        self.path = f"/v1/listen?{QUERY}{more_query}"
        self.text, self.ended = "", False

    def packet(self, pcm: bytes) -> bytes:
        """As it is."""
        return pcm

    def hear(self, data: str | bytes) -> None:
        """Add a final to the text."""
        message = json.loads(data)
        if message["type"] == "Error":
            raise TalkFailed(message["description"])
        if message["type"] == "Results" and message["is_final"]:
            final = message["channel"]["alternatives"][0]["transcript"]
            self.text = f"{self.text} {final}".strip()
        self.ended = message["type"] == "Metadata"


class SherpaTalk:
    """With sherpa-onnx-online-websocket-server: its last message is no JSON."""

    path, goodbye = "/", "Done"

    def __init__(self) -> None:
        self.text, self.ended = "", False

    def packet(self, pcm: bytes) -> bytes:
        """As float32 in [-1, 1]."""
        return (np.frombuffer(pcm, "<i2").astype("<f4") / FULL_SCALE).tobytes()

    def hear(self, data: str | bytes) -> None:
        """Replace the text: without endpoints each message has all of it."""
        self.ended = data == "Done!"
        if not self.ended:
            self.text = json.loads(data)["text"].strip()
