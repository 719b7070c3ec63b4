"""The protocol of vosk-server without the socket: for each message of audio one of text.

What a client gets is what is known when its audio comes: a text that is done, if one waits, else
the one under way. Only the answers to `eof` and `reset` wait for the engine.
"""

from collections.abc import Sequence
from enum import Enum

from earshot.service.audio.socket_audio import SocketAudio
from earshot.service.best_reading import best_text
from earshot.service.errors import BadRequest, ServiceError
from earshot.service.outcomes import (
    NORMAL_CLOSURE,
)
from earshot.service.request.parameters import ListenParameters, ParameterRules
from earshot.service.sessions.actions import (
    RESTARTING,
    Action,
    Ask,
    Close,
    JsonMessage,
    Open,
    Send,
    pushed,
)
from earshot.service.sessions.json_object import object_of
from earshot.service.vosk.vosk_config import VoskConfig
from earshot.service.vosk.vosk_messages import final_message, partial_message
from earshot.service.writing import Result
from earshot.streaming.errors import StreamingError
from earshot.streaming.events import Closed, Event, Failed, Final, Partial
from earshot.streaming.requests import FINALIZE, FINISH, Cancel
from earshot.streaming.samples import Samples

MAX_TEXT_CHARS = 128 * 1024


class State(Enum):
    """WAITING for audio or a config; then OPEN; FINISHING waits for the last text."""

    WAITING = "waiting"
    OPEN = "open"
    FINISHING = "finishing"
    CLOSED = "closed"


class VoskConversation:
    """One session."""

    def __init__(self, rules: ParameterRules, model_rate_hz: int) -> None:
        self.state = State.WAITING
        self._rules = rules
        self._model_rate_hz = model_rate_hz
        self._config = VoskConfig()
        self._parameters: ListenParameters | None = None
        self._audio: SocketAudio | None = None
        self._partial = ""
        self._finals: list[Final] = []
        self._resets = 0
        self._close = Close(NORMAL_CLOSURE)

    @property
    def awaits(self) -> str | None:
        """Until the client has ended its audio."""
        return "audio" if self.state in (State.WAITING, State.OPEN) else None

    def opened(self) -> list[Action]:
        """Vosk says nothing before it is spoken to."""
        return []

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Take audio, and answer with what is known."""
        if self.awaits is None:
            return []
        try:
            opening = self._opening()
            heard = pushed(self._heard(data))
        except (ServiceError, StreamingError) as error:
            return self.fail(error)
        return [*opening, *heard, Send(self._known())]

    def receive_text(self, text: str) -> list[Action]:
        """Take a `config`, `eof` or `reset`."""
        if self.awaits is None:
            return []
        try:
            message = object_of(text, MAX_TEXT_CHARS)
            if message is None:
                raise BadRequest("a message of text must be an object of JSON")
            if "config" in message:
                if self.state is State.WAITING:  # one that comes later changes nothing in Vosk
                    self._config = self._config.changed_by(message["config"])
                return []
            if not ("eof" in message or "reset" in message):
                raise BadRequest("a message is audio, a config, eof or reset")
            opening = self._opening()
        except (ServiceError, StreamingError) as error:
            return self.fail(error)
        if "eof" in message:
            return [*opening, *self._finish()]
        self._resets += 1
        return [*opening, Ask(FINALIZE)]

    def receive_event(self, event: Event, channel: int = 0) -> list[Action]:
        """Keep what the engine says until it is asked for."""
        if self.state is State.CLOSED:
            return []
        match event:
            case Partial():
                self._partial = best_text(self._written(event))
            case Final():
                self._finals.append(self._written(event))
                self._partial = ""
                if event.from_finalize and self._resets:
                    self._resets -= 1
                    return [Send(self._done(len(self._finals)))]
            case Closed():
                self.state = State.CLOSED
                return [Send(self._done(len(self._finals))), self._close]
            case Failed(error):
                return self.fail(error)
            case _:
                pass
        return []

    def fail(self, error: BaseException) -> list[Action]:
        """Close with the error's code and reason: the protocol has no message for it."""
        if self.state is State.CLOSED:
            return []
        self.state = State.CLOSED
        return [Ask(Cancel()), Close.of(error)]

    def idle(self, error: BaseException) -> list[Action]:
        """End the session of a silent client: the last text, then the error's code."""
        return self._end(Close.of(error))

    def drain(self) -> list[Action]:
        """End because the server stops: the last text, then a code to reconnect on."""
        return self._end(RESTARTING)

    def disconnect(self) -> list[Action]:
        """The client is gone: nobody reads the texts."""
        self.state = State.CLOSED
        return [Ask(Cancel())]

    def _opening(self) -> list[Action]:
        """Open the stream, if it is not, as the config has it by now."""
        if self.state is not State.WAITING:
            return []
        self._parameters = self._config.parameters(self._rules)
        self._audio = SocketAudio(self._parameters.pcm, self._model_rate_hz)
        self.state = State.OPEN
        return [Open(self._parameters.stream)]

    def _heard(self, data: bytes) -> Sequence[Samples]:
        assert self._audio is not None
        return self._audio.decode(data)

    def _written(self, result: Result) -> Result:
        assert self._parameters is not None
        return self._parameters.writing.of(result)

    def _known(self) -> JsonMessage:
        return self._done(1) if self._finals else partial_message(self._partial)

    def _done(self, count: int) -> JsonMessage:
        """The first of the texts that are done, as one."""
        told, self._finals = self._finals[:count], self._finals[count:]
        return final_message(told, words=self._config.words, alternatives=self._config.alternatives)

    def _end(self, close: Close) -> list[Action]:
        if self.state is State.WAITING:
            self.state = State.CLOSED
            return [close]
        self._close = close
        return self._finish() if self.state is State.OPEN else []

    def _finish(self) -> list[Action]:
        assert self._audio is not None
        try:
            tails = self._audio.flush()
        except ServiceError as error:
            return self.fail(error)
        self.state = State.FINISHING
        return [*pushed(tails), Ask(FINISH)]
