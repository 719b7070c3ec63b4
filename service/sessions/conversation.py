"""What a session asks of a protocol: no sockets, no clock, messages and events in, actions out."""

from collections.abc import Iterable
from typing import Protocol

from earshot.service.sessions.actions import Action
from earshot.streaming.events import Event


class Conversation(Protocol):
    """One session in some protocol; see `Session`, which performs the actions."""

    @property
    def awaits(self) -> str | None:
        """What the client has yet to say, in the protocol's words: one without it is idle.

        None when the client has ended.
        """

    def opened(self) -> Iterable[Action]:
        """Begin."""

    def receive_bytes(self, data: bytes) -> Iterable[Action]:
        """Take a binary message."""

    def receive_text(self, text: str) -> Iterable[Action]:
        """Take a text message."""

    def receive_event(self, event: Event, channel: int = 0) -> Iterable[Action]:
        """Take what the engine says about the stream of one channel."""

    def fail(self, error: BaseException) -> Iterable[Action]:
        """End for an error: the client is told why, then the socket is closed."""

    def idle(self, error: BaseException) -> Iterable[Action]:
        """End for a client that says nothing any more, after the last results."""

    def drain(self) -> Iterable[Action]:
        """End because the server stops, after the last results."""

    def disconnect(self) -> Iterable[Action]:
        """The client is gone."""
