"""The protocol of WhisperLiveKit's page without the socket: audio in, lines out."""

from collections.abc import Sequence

from earshot.service.outcomes import public_message
from earshot.service.request.parameters import ListenParameters
from earshot.service.sessions.actions import Action, Message, Send
from earshot.service.sessions.stream_conversation import StreamConversation
from earshot.service.whisperlivekit.page_messages import (
    CONFIG,
    READY_TO_STOP,
    PageLines,
    failure,
)
from earshot.streaming.events import Final, Partial


class PageConversation(StreamConversation):
    """One session, whose stream is open already; an empty message ends its audio."""

    takes_containers = True  # what its page's MediaRecorder makes

    def __init__(self, parameters: ListenParameters, model_rate_hz: int) -> None:
        super().__init__(model_rate_hz)
        self._begin(parameters)
        self._lines = PageLines()

    def opened(self) -> list[Action]:
        """Tell the page what to send."""
        return [Send(CONFIG)]

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Take audio, or its end."""
        if self.awaits is None:
            return []
        return self._hear(data) if data else self._finish()

    def receive_text(self, text: str) -> list[Action]:
        """Pass it over: the page sends none."""
        return []

    def _partial(self, partial: Partial) -> list[Action]:
        return [Send(self._lines.partial(self._written(partial)), 0, replaceable=True)]

    def _final(self, final: Final) -> list[Action]:
        line = self._lines.final(self._written(final))
        return [] if line is None else [Send(line, 0)]

    def _last(self) -> Sequence[Message]:
        return [READY_TO_STOP]

    def _complaint(self, error: BaseException) -> Sequence[Message]:
        return [failure(public_message(error))]
