"""The common part of conversations about one stream: its audio, and every way to end."""

from collections.abc import Sequence

from earshot.service.audio.socket_audio import SocketAudio
from earshot.service.errors import ServiceError
from earshot.service.outcomes import NORMAL_CLOSURE
from earshot.service.request.parameters import ListenParameters
from earshot.service.sessions.actions import (
    RESTARTING,
    Action,
    Ask,
    Close,
    Message,
    Open,
    Send,
    pushed,
)
from earshot.service.writing import Result
from earshot.streaming.events import (
    Closed,
    Event,
    Failed,
    Final,
    NotConfigured,
    Partial,
    SpeechStarted,
)
from earshot.streaming.requests import FINISH, Cancel


class StreamConversation:
    """A protocol derives from it and words its messages: `_final`, `_complaint` and others below.

    A stream begins with its parameters and hears until it is finished; what the engine says after
    the conversation is over nobody is told. See `Conversation`.
    """

    awaited = "audio"
    """What the client has yet to send, in the protocol's words."""

    takes_containers = False
    """Whether clients may send a container in place of the samples that are said."""

    def __init__(self, model_rate_hz: int) -> None:
        self._model_rate_hz = model_rate_hz
        self._parameters: ListenParameters | None = None
        self._audio: SocketAudio | None = None
        self._is_ending = self._is_over = False
        self._close = Close(NORMAL_CLOSURE)

    @property
    def awaits(self) -> str | None:
        """Until the client has ended, or was told to."""
        return None if self._is_ending or self._is_over else self.awaited

    def opened(self) -> list[Action]:
        """Wait: the client speaks first."""
        return []

    def receive_event(self, event: Event, channel: int = 0) -> list[Action]:
        """Tell what the engine says."""
        if self._is_over:
            return []
        match event:
            case Partial():
                return self._partial(event)
            case Final():
                return self._final(event)
            case SpeechStarted():
                return self._started(event)
            case NotConfigured(reason):
                return self._not_configured(reason)
            case Closed():
                self._is_over = True
                return [*map(Send, self._last()), self._close]
            case Failed(error):
                return self.fail(error)
            case _:
                return []

    def fail(self, error: BaseException) -> list[Action]:
        """End for an error: the client is told why, then the socket is closed."""
        if self._is_over:
            return []
        self._is_over = True
        return [Ask(Cancel()), *map(Send, self._complaint(error)), Close.of(error)]

    def idle(self, error: BaseException) -> list[Action]:
        """End for a silent client: last results, then the error's code."""
        return self._end(Close.of(error))

    def drain(self) -> list[Action]:
        """End because the server stops: last results, then a code to reconnect on."""
        return self._end(RESTARTING)

    def disconnect(self) -> list[Action]:
        """The client is gone: nobody reads the results."""
        self._is_over = True
        return [Ask(Cancel())]

    def _begin(self, parameters: ListenParameters) -> list[Action]:
        """Hear what comes from now on; the first time the stream is opened."""
        opening: list[Action] = [] if self._parameters else [Open(parameters.stream)]
        self._parameters = parameters
        self._audio = SocketAudio(
            parameters.pcm,
            self._model_rate_hz,
            stated=parameters.container,
            or_packed=self.takes_containers,
        )
        return opening

    def _hear(self, data: bytes) -> list[Action]:
        """Decode audio. What is none ends the conversation: times behind it would be wrong."""
        assert self._audio is not None
        try:
            return pushed(self._audio.decode(data))
        except ServiceError as error:
            return self.fail(error)

    def _flush(self) -> list[Action]:
        """Decode what the resampler holds back; the audio is over."""
        audio, self._audio = self._audio, None
        return [] if audio is None else pushed(audio.flush())

    def _finish(self) -> list[Action]:
        """End the stream; `_last` follows its last results."""
        self._is_ending = True
        try:
            return [*self._flush(), Ask(FINISH)]
        except ServiceError as error:
            return self.fail(error)

    def _end(self, close: Close) -> list[Action]:
        """Close so, behind the last results; a client that has ended is closed as it asked for."""
        if self._is_ending or self._is_over:
            return []
        self._close = close
        if self._parameters is not None:
            return self._finish()
        self._is_over = True
        return [close]

    def _written(self, result: Result) -> Result:
        """The result as the request wants it written."""
        assert self._parameters is not None
        return self._parameters.writing.of(result)

    def _partial(self, partial: Partial) -> list[Action]:
        """Tell a text that may change."""
        return []

    def _final(self, final: Final) -> list[Action]:
        """Tell a text that is done."""
        raise NotImplementedError

    def _started(self, started: SpeechStarted) -> list[Action]:
        """Tell that somebody speaks."""
        return []

    def _not_configured(self, reason: str) -> list[Action]:
        """Tell that what was asked for later cannot be had."""
        return []

    def _last(self) -> Sequence[Message]:
        """The messages behind the last results."""
        return ()

    def _complaint(self, error: BaseException) -> Sequence[Message]:
        """The messages before a close that an error causes."""
        return ()
