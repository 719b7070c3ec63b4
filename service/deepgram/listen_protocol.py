"""The protocol of /v1/listen over a WebSocket, without the socket.

Messages of the client and events of the engine go in, actions come out. One instance is one
session; it does no I/O, keeps no time and is not thread safe. docs/protocol.md is its description.
"""

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from pydantic import ValidationError

from earshot.service.audio.socket_audio import SocketAudio
from earshot.service.deepgram.channel_states import ChannelStates
from earshot.service.deepgram.configure_warnings import configure_warnings
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.deepgram.response.stream_warnings import StreamWarnings, carried
from earshot.service.deepgram.response.wire import (
    CONTROL,
    CloseStream,
    Configure,
    ConfigureFailure,
    ConfigureSuccess,
    Error,
    Finalize,
    KeepAlive,
    Results,
    StreamWarning,
)
from earshot.service.errors import BadRequest, UndecodableAudio
from earshot.service.outcomes import (
    NORMAL_CLOSURE,
    outcome_of,
    public_message,
)
from earshot.service.request.boost_warnings import AskedPhrases, boost_warnings
from earshot.service.request.boosts import BoostRules, TooManyPhrases
from earshot.service.request.parameters import ListenParameters
from earshot.service.request.request_warning import RequestWarning
from earshot.service.sessions.actions import RESTARTING, Action, Ask, Close, Send, pushed
from earshot.service.sessions.json_object import ROOM_FOR_PHRASES
from earshot.streaming.entities import read_entities
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.events import (
    BoostWarning,
    Closed,
    Configured,
    Described,
    EagerEndOfTurn,
    Event,
    Failed,
    Final,
    LimitedBoost,
    NotConfigured,
    Partial,
    RoomAvailable,
    SpeechStarted,
    TurnResumed,
    UnboostablePhrase,
    UtteranceEnd,
)
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.parts.option import by_field
from earshot.streaming.parts.table import part_parameters
from earshot.streaming.requests import FINALIZE, FINISH, Cancel
from earshot.streaming.requests import Configure as ConfigureRequest
from earshot.streaming.weights import Weights, check_weights

MAX_ECHO_CHARS = 200
MAX_TEXT_CHARS = ROOM_FOR_PHRASES
"""Of a control message."""


class State(Enum):
    """OPEN takes audio; FINISHING waits for the stream's last results; CLOSED is over."""

    OPEN = "open"
    FINISHING = "finishing"
    CLOSED = "closed"


@dataclass(frozen=True)
class _Wishes:
    """What a session may change while it runs; in_vain: what its last Configure named besides."""

    keyterms: list[str]
    keywords: list[str]
    graph: GraphOptions
    weights: Weights
    chunk_ms: float | None = None
    in_vain: tuple[RequestWarning, ...] = ()

    @cached_property
    def phrases(self) -> AskedPhrases:
        """All that are to be boosted, as warnings tell them apart."""
        return AskedPhrases.of(self.keyterms, self.keywords)

    def changed_by(self, message: Configure) -> "_Wishes":
        """With what the message names; ``lm`` off forgets what was said of language models before.

        Raises InvalidStreamConfig for numbers out of range.
        """
        named = by_field(part_parameters(), message.of_parts)
        check_weights(named["weights"])
        if message.entities is not None:
            named["graph"]["entities"] = read_entities(message.entities)
        off = named["graph"].get("lm") is False
        return _Wishes(
            self.keyterms if message.keyterms is None else message.keyterms,
            self.keywords if message.keywords is None else message.keywords,
            replace(GraphOptions() if off else self.graph, **named["graph"]),
            {**({} if off else self.weights), **named["weights"]},
            self.chunk_ms if message.chunk_ms is None else message.chunk_ms,
            tuple(configure_warnings(message)),
        )


class ListenProtocol:
    """One session of /v1/listen."""

    def __init__(
        self,
        messages: ResultMessages,
        parameters: ListenParameters,
        boosts: BoostRules,
        model_rate_hz: int,
    ) -> None:
        self.state = State.OPEN
        self._messages = messages
        self._audio = SocketAudio(
            parameters.pcm,
            model_rate_hz,
            parameters.channels_apart,
            stated=parameters.container,
        )
        self._channels = ChannelStates(parameters.channels_apart or 1)
        self._boosts = boosts
        self._holds = _Wishes(
            list(parameters.keyterms),
            list(parameters.keywords),
            parameters.stream.graph,
            parameters.stream.weights,
            parameters.stream.chunk_ms,
        )
        self._asked: _Wishes | None = None
        self._warnings = StreamWarnings(parameters.warnings)
        self._tells_warnings = parameters.tell_warnings
        self._close = Close(NORMAL_CLOSURE)

    @property
    def awaits(self) -> str | None:
        """Until the client has ended its audio."""
        return "audio and no KeepAlive" if self.state is State.OPEN else None

    def opened(self) -> list[Action]:
        """Start the session; warn of unsupported parameters first, if the client opted in."""
        return self._tell(self._warnings.all)

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
        return pushed(samples)

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
                return [Ask(FINALIZE)]
            case CloseStream():
                return self._finish()
            case Configure():
                return self._configure(message)

    def receive_event(self, event: Event, channel: int = 0) -> list[Action]:
        """Take what the engine says about the stream of one of this session's channels."""
        if self.state is State.CLOSED:
            return []
        match event:
            case Partial():
                return [Send(self._messages.results(event, channel), channel, replaceable=True)]
            case Final():
                return [Send(self._final(event, channel), channel)]
            case SpeechStarted() | UtteranceEnd():
                return [Send(self._messages.notice(event, channel))]
            case UnboostablePhrase() | LimitedBoost():
                # All channels have the same phrases: the first tells of them.
                return self._boosted_less(event) if channel == 0 else []
            case Configured() | NotConfigured():
                return self._answered(self._channels.answered(channel, event))
            case RoomAvailable() | Described() | EagerEndOfTurn() | TurnResumed():
                return []
            case Closed(duration_s):
                return self._end() if self._channels.closed(channel, duration_s) else []
            case Failed(error):
                return self._failed(channel, error)

    def fail(self, error: BaseException) -> list[Action]:
        """End the session for ``error``: the client is told why, then the socket is closed."""
        if self.state is State.CLOSED:
            return []
        self.state = State.CLOSED
        return [Ask(Cancel()), Send(_told(error)), Close.of(error)]

    def idle(self, error: BaseException) -> list[Action]:
        """End the session of a silent client: last results, then ``error`` and its code."""
        if self.state is not State.OPEN:
            return []
        self._close = Close.of(error)
        return self._finish()

    def drain(self) -> list[Action]:
        """End the session because the server stops: last results, then a code to reconnect on."""
        self._close = RESTARTING
        return self._finish() if self.state is State.OPEN else []

    def disconnect(self) -> list[Action]:
        """The client is gone: nobody reads the results."""
        self.state = State.CLOSED
        return [Ask(Cancel())]

    def _finish(self) -> list[Action]:
        try:
            tails = self._audio.flush()
        except UndecodableAudio as error:
            return self.fail(error)
        self.state = State.FINISHING
        return [*pushed(tails), Ask(FINISH)]

    def _end(self) -> list[Action]:
        """The last stream is closed; where another had failed, the code says so at the end."""
        self.state = State.CLOSED
        lost = self._channels.lost
        close = self._close if lost is None else Close.of(lost)
        duration_s = self._channels.duration_s
        warnings = carried(self._warnings.all)
        told = [] if self._close.error is None else [Send(_told(self._close.error))]
        closing = self._messages.closing(duration_s, self._audio.sha256, warnings)
        return [*told, Send(closing), close]

    def _failed(self, channel: int, error: BaseException) -> list[Action]:
        """One channel is lost: the client is told at once, and the others go on."""
        unanswered = self._channels.failed(channel, error)
        if self._channels.all_failed:
            return self.fail(error)
        told = Error(
            variant=outcome_of(error).err_code,
            description=f"channel {channel}: {public_message(error)}",
        )
        actions: list[Action] = [Ask(Cancel(), channel), Send(told)]
        if self._channels.all_over:
            return actions + self._end()
        return actions + self._answered(unanswered)

    def _configure(self, message: Configure) -> list[Action]:
        if self._asked is not None:
            return [self._refuse("CONFIGURE_ALREADY_PENDING", "the last Configure is not done yet")]
        try:
            asked = self._holds.changed_by(message)
            boosts = self._boosts.parse(asked.keyterms, asked.keywords)
        except InvalidStreamConfig as error:
            return [self._refuse("CONFIGURE_LM_INVALID", str(error))]
        except TooManyPhrases as error:
            return [self._refuse("CONFIGURE_KEYTERM_LIMIT_EXCEEDED", str(error))]
        except BadRequest as error:
            return [self._refuse("CONFIGURE_KEYTERM_INVALID", str(error))]
        self._asked = asked
        self._channels.ask()
        return [Ask(ConfigureRequest(boosts, asked.graph, asked.weights, asked.chunk_ms))]

    def _answered(self, event: Configured | NotConfigured | None) -> list[Action]:
        """All channels have answered a Configure, as ``event`` does; None: not yet."""
        match event:
            case None:
                return []
            case NotConfigured(reason):
                self._asked = None
                return [self._refuse("CONFIGURE_LM_INVALID", reason)]
            case Configured():
                return self._configured(event)

    def _configured(self, event: Configured) -> list[Action]:
        self._holds, self._asked = self._asked or self._holds, None
        holds = self._holds
        warnings = [
            *holds.in_vain,
            *self._boosts.warnings(holds.keyterms, holds.keywords, holds.graph.beam),
            *boost_warnings(event.warnings, holds.phrases),
        ]
        self._warnings.replace(warnings)
        success = ConfigureSuccess(
            request_id=self._messages.request_id,
            keyterms=holds.keyterms + holds.keywords,
            warnings=carried(warnings) or None,
        )
        return [Send(success), *self._tell(warnings)]

    def _final(self, event: Final, channel: int) -> Results:
        return self._messages.results(event, channel, carried(self._warnings.take_untold()))

    def _boosted_less(self, event: BoostWarning) -> list[Action]:
        warnings = boost_warnings([event], self._holds.phrases)
        for warning in warnings:
            self._warnings.add(warning)
        return self._tell(warnings)

    def _tell(self, warnings: list[RequestWarning]) -> list[Action]:
        return [Send(StreamWarning.of(each)) for each in warnings if self._tells_warnings]

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


def _told(error: BaseException) -> Error:
    return Error(variant=outcome_of(error).err_code, description=public_message(error))


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
