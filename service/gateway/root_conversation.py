"""A conversation whose protocol its client's first message says."""

from collections.abc import Iterable, Sequence

from earshot.service.core.services import Services
from earshot.service.errors import BadRequest
from earshot.service.sessions.actions import RESTARTING, Action, Close
from earshot.service.sessions.conversation import Conversation
from earshot.service.sessions.root_protocol import RootProtocol
from earshot.streaming.events import Event


class RootConversation:
    """Nothing until the first message; from then on the conversation of whoever claims it."""

    def __init__(self, services: Services, protocols: Sequence[RootProtocol]) -> None:
        self._services = services
        self._protocols = protocols
        self._chosen: Conversation | None = None
        self._is_over = False

    @property
    def awaits(self) -> str | None:
        """A first message, or what the protocol says."""
        return "message" if self._chosen is None else self._chosen.awaits

    def opened(self) -> Iterable[Action]:
        """The client speaks first."""
        return []

    def receive_bytes(self, data: bytes) -> Iterable[Action]:
        """Take a binary message."""
        if self._chosen is None:
            return self._begin(data)
        return self._chosen.receive_bytes(data)

    def receive_text(self, text: str) -> Iterable[Action]:
        """Take a text message."""
        if self._chosen is None:
            return self._begin(text)
        return self._chosen.receive_text(text)

    def receive_event(self, event: Event, channel: int = 0) -> Iterable[Action]:
        """Take what the engine says."""
        return [] if self._chosen is None else self._chosen.receive_event(event, channel)

    def fail(self, error: BaseException) -> Iterable[Action]:
        """End for an error."""
        return [Close.of(error)] if self._chosen is None else self._chosen.fail(error)

    def idle(self, error: BaseException) -> Iterable[Action]:
        """End for a client that says nothing."""
        return [Close.of(error)] if self._chosen is None else self._chosen.idle(error)

    def drain(self) -> Iterable[Action]:
        """End because the server stops."""
        if self._chosen is None:
            return [RESTARTING]
        return self._chosen.drain()

    def disconnect(self) -> Iterable[Action]:
        """The client is gone."""
        return [] if self._chosen is None else self._chosen.disconnect()

    def _begin(self, message: bytes | str) -> Iterable[Action]:
        if self._is_over:
            return []
        for protocol in self._protocols:
            if protocol.claims(message):
                self._chosen = chosen = protocol.converse(self._services)
                receive = (
                    chosen.receive_bytes(message)
                    if isinstance(message, bytes)
                    else chosen.receive_text(message)
                )
                return [*chosen.opened(), *receive]
        self._is_over = True
        first = " or ".join(protocol.first for protocol in self._protocols)
        return self.fail(BadRequest(f"a first message here is {first}; else use /v1/listen"))
