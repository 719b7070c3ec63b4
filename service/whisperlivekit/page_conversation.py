"""The protocol of WhisperLiveKit's page without the socket: samples in, lines out."""

from earshot.service.audio.socket_audio import SocketAudio
from earshot.service.errors import ServiceError
from earshot.service.outcomes import NORMAL_CLOSURE, public_message
from earshot.service.request.parameters import ListenParameters
from earshot.service.sessions.actions import RESTARTING, Action, Ask, Close, Send, pushed
from earshot.service.whisperlivekit.page_messages import (
    CONFIG,
    READY_TO_STOP,
    PageLines,
    failure,
)
from earshot.streaming.events import Closed, Event, Failed, Final, Partial
from earshot.streaming.requests import FINISH, Cancel


class PageConversation:
    """One session; an empty message ends its audio."""

    def __init__(self, parameters: ListenParameters, model_rate_hz: int) -> None:
        self._writing = parameters.writing
        self._audio = SocketAudio(parameters.pcm, model_rate_hz)
        self._lines = PageLines()
        self._is_open, self._is_over = True, False
        self._close = Close(NORMAL_CLOSURE)

    @property
    def awaits(self) -> str | None:
        """Until the page has ended its audio."""
        return "audio" if self._is_open else None

    def opened(self) -> list[Action]:
        """Tell the page what to send."""
        return [Send(CONFIG)]

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Take samples, or their end."""
        if not self._is_open:
            return []
        if not data:
            return self._finish()
        try:
            heard = self._audio.decode(data)
        except ServiceError as error:
            return self.fail(error)
        return pushed(heard)

    def receive_text(self, text: str) -> list[Action]:
        """The page sends none."""
        return []

    def receive_event(self, event: Event, channel: int = 0) -> list[Action]:
        """Tell what the engine says."""
        if self._is_over:
            return []
        match event:
            case Partial():
                told = self._lines.partial(self._writing.of(event))
                return [Send(told, 0, replaceable=True)]
            case Final():
                line = self._lines.final(self._writing.of(event))
                return [] if line is None else [Send(line, 0)]
            case Closed():
                self._is_over = True
                return [Send(READY_TO_STOP), self._close]
            case Failed(error):
                return self.fail(error)
            case _:
                return []

    def fail(self, error: BaseException) -> list[Action]:
        """End for an error: the page is told why, then the socket is closed."""
        if self._is_over:
            return []
        self._is_over, self._is_open = True, False
        return [Ask(Cancel()), Send(failure(public_message(error))), Close.of(error)]

    def idle(self, error: BaseException) -> list[Action]:
        """End the session of a silent page: last lines, then the error's code."""
        self._close = Close.of(error)
        return self._finish()

    def drain(self) -> list[Action]:
        """End because the server stops: last lines, then a code to reconnect on."""
        self._close = RESTARTING
        return self._finish()

    def disconnect(self) -> list[Action]:
        """The page is gone: nobody reads the lines."""
        self._is_over, self._is_open = True, False
        return [Ask(Cancel())]

    def _finish(self) -> list[Action]:
        if not self._is_open:
            return []
        try:
            tails = self._audio.flush()
        except ServiceError as error:
            return self.fail(error)
        self._is_open = False
        return [*pushed(tails), Ask(FINISH)]
