"""The protocol of /v1/listen over a WebSocket, without the socket.

Messages of the client and events of the engine go in, actions come out. One instance is one
session; it does no I/O, keeps no time and is not thread safe. docs/protocol.md is its description.
"""

from enum import Enum

from pydantic import ValidationError

from service.audio.socket_audio import SocketAudio
from service.boosts import BoostRules, TooManyPhrases
from service.close_codes import (
    NORMAL_CLOSURE,
    SERVICE_RESTART,
    close_reason,
    outcome_of,
    public_message,
)
from service.errors import BadRequest, UndecodableAudio
from service.listen_actions import (
    Action,
    CancelStream,
    Close,
    ConfigureStream,
    FinalizeStream,
    FinishStream,
    PushAudio,
    Send,
)
from service.parameters import ListenParameters
from service.result_messages import ResultMessages
from service.wire import (
    CONTROL,
    CloseStream,
    Configure,
    ConfigureFailure,
    ConfigureSuccess,
    Error,
    Finalize,
    KeepAlive,
    Message,
)
from streaming.events import (
    Closed,
    Configured,
    Event,
    Failed,
    Final,
    Partial,
    RoomAvailable,
    SpeechStarted,
    UnboostablePhrase,
    UtteranceEnd,
)

MAX_ECHO_CHARS = 200
MAX_TEXT_CHARS = 128 * 1024
"""Of a control message: room for all phrases that may be boosted, however they are escaped."""


class State(Enum):
    """OPEN takes audio; FINISHING waits for the stream's last results; CLOSED is over."""

    OPEN = "open"
    FINISHING = "finishing"
    CLOSED = "closed"


class ListenProtocol:
    """One session of /v1/listen."""

    def __init__(
        self, messages: ResultMessages, parameters: ListenParameters, boosts: BoostRules
    ) -> None:
        self.state = State.OPEN
        self._messages = messages
        self._audio = SocketAudio(parameters.pcm)
        self._boosts = boosts
        self._keyterms = list(parameters.keyterms)
        self._keywords = list(parameters.keywords)
        self._configuring = False
        self._close = Close(NORMAL_CLOSURE)

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Take a binary message: audio, or the end of the stream when it is empty."""
        if self.state is not State.OPEN:
            return []
        if not data:
            return self._finish()
        try:
            samples = self._audio.decode(data)
        except UndecodableAudio as error:
            return self.fail(error)
        return [PushAudio(samples)] if samples.size else []

    def receive_text(self, text: str) -> list[Action]:
        """Take a text message: a control message, or an Error in answer and nothing else."""
        if self.state is not State.OPEN:
            return []
        if len(text) > MAX_TEXT_CHARS:
            return [Send(_too_long(text))]
        try:
            message = CONTROL.validate_json(text)
        except ValidationError as error:
            return [Send(_schema_error(text, error))]
        match message:
            case KeepAlive():
                return []
            case Finalize():
                return [FinalizeStream()]
            case CloseStream():
                return self._finish()
            case Configure():
                return self._configure(message)

    def receive_event(self, event: Event) -> list[Action]:
        """Take what the engine says about this session's stream."""
        if self.state is State.CLOSED:
            return []
        match event:
            case Partial():
                return [Send(self._messages.results(event), replaceable=True)]
            case Final():
                return [Send(self._messages.results(event))]
            case SpeechStarted() | UtteranceEnd() | UnboostablePhrase():
                return [Send(self._messages.notice(event))]
            case Configured():
                return self._configured(event)
            case RoomAvailable():
                return []
            case Closed(duration_s):
                return self._closed(duration_s)
            case Failed(error):
                return self.fail(error)

    def fail(self, error: BaseException) -> list[Action]:
        """End the session for ``error``: the client is told why, then the socket is closed."""
        if self.state is State.CLOSED:
            return []
        self.state = State.CLOSED
        outcome = outcome_of(error)
        told = Error(variant=outcome.err_code, description=public_message(error))
        return [CancelStream(), Send(told), Close(outcome.close_code, close_reason(error))]

    def drain(self) -> list[Action]:
        """End the session because the server stops: last results, then a code to reconnect on."""
        self._close = Close(SERVICE_RESTART, "the server is restarting")
        return self._finish() if self.state is State.OPEN else []

    def disconnect(self) -> list[Action]:
        """The client is gone: nobody reads the results."""
        self.state = State.CLOSED
        return [CancelStream()]

    def _finish(self) -> list[Action]:
        try:
            tail = self._audio.flush()
        except UndecodableAudio as error:
            return self.fail(error)
        self.state = State.FINISHING
        return [PushAudio(tail), FinishStream()] if tail.size else [FinishStream()]

    def _closed(self, duration_s: float) -> list[Action]:
        self.state = State.CLOSED
        return [Send(self._messages.closing(duration_s, self._audio.sha256)), self._close]

    def _configure(self, message: Configure) -> list[Action]:
        if self._configuring:
            return [self._refuse("CONFIGURE_ALREADY_PENDING", "the last Configure is not done yet")]
        keyterms = self._keyterms if message.keyterms is None else message.keyterms
        keywords = self._keywords if message.keywords is None else message.keywords
        try:
            boosts = self._boosts.parse(keyterms, keywords)
        except TooManyPhrases as error:
            return [self._refuse("CONFIGURE_KEYTERM_LIMIT_EXCEEDED", str(error))]
        except BadRequest as error:
            return [self._refuse("CONFIGURE_KEYTERM_INVALID", str(error))]
        self._configuring = True
        self._keyterms, self._keywords = keyterms, keywords
        return [ConfigureStream(boosts)]

    def _configured(self, event: Configured) -> list[Action]:
        self._configuring = False
        warnings: list[Message] = [self._messages.notice(each) for each in event.warnings]
        success = ConfigureSuccess(
            request_id=self._messages.request_id, keyterms=self._keyterms + self._keywords
        )
        return [Send(message) for message in (success, *warnings)]

    def _refuse(self, code: str, description: str) -> Send:
        return Send(
            ConfigureFailure.model_validate(
                {
                    "request_id": self._messages.request_id,
                    "code": code,
                    "description": description,
                }
            )
        )


def _too_long(text: str) -> Error:
    return Error(
        variant="SchemaError",
        description=f"{len(text)} characters; a control message has at most {MAX_TEXT_CHARS}",
        message=text[:MAX_ECHO_CHARS],
    )


def _schema_error(text: str, error: ValidationError) -> Error:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return Error(
        variant="SchemaError",
        description=f"{where}: {first['msg']}" if where else first["msg"],
        message=text[:MAX_ECHO_CHARS],
    )
