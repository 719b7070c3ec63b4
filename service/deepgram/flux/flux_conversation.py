"""Flux's protocol without the socket: audio and control messages in, turns out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from earshot.service.deepgram.flux.flux_messages import FluxMessages
from earshot.service.deepgram.flux.flux_turns import FluxTurns
from earshot.service.deepgram.flux.flux_wishes import FluxWishes
from earshot.service.errors import BadRequest
from earshot.service.request.boost_warnings import AskedPhrases, boost_warnings
from earshot.service.request.boosts import BoostRules, TooManyPhrases
from earshot.service.request.endpoint_rules import CANNOT_TELL
from earshot.service.request.parameters import ListenParameters
from earshot.service.request.request_warning import RequestWarning
from earshot.service.request.unserved import unsupported
from earshot.service.sessions.actions import Action, Ask, Message, Send
from earshot.service.sessions.json_object import ROOM_FOR_PHRASES, object_of
from earshot.service.sessions.stream_conversation import StreamConversation
from earshot.streaming.events import (
    BoostWarning,
    Configured,
    EagerEndOfTurn,
    Event,
    Final,
    LimitedBoost,
    Partial,
    TurnResumed,
    UnboostablePhrase,
)
from earshot.streaming.requests import FINALIZE, Configure


class FluxConversation(StreamConversation):
    """One session, whose stream is open already."""

    def __init__(
        self,
        parameters: ListenParameters,
        wishes: FluxWishes,
        boosts: BoostRules,
        model_rate_hz: int,
        request_id: str,
    ) -> None:
        super().__init__(model_rate_hz)
        self._begin(parameters)
        self._warnings = parameters.warnings
        self._keywords = parameters.keywords
        self._endpoint = parameters.stream.endpoint
        self._boosts = boosts
        self._wishes = wishes
        self._pending_wishes: FluxWishes | None = None
        self._messages = FluxMessages(request_id)
        self._writing = parameters.writing
        self._turns = FluxTurns(self._messages, self._writing, self._endpoint.silence_ms)

    def opened(self) -> list[Action]:
        """Greet, and warn of what is asked in vain."""
        return [Send(self._messages.connected()), *self._warn(self._warnings)]

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Take audio, or its end where the message is empty."""
        if self.awaits is None:
            return []
        return self._hear(data) if data else self._finish()

    def receive_text(self, text: str) -> list[Action]:
        """Take a control message; what is none ends the session."""
        if self.awaits is None:
            return []
        message = object_of(text, ROOM_FOR_PHRASES) or {}
        match message.get("type"):
            case "CloseStream":
                return self._finish()
            case "ForceEndTurn":
                return [Ask(FINALIZE)]
            case "Configure":
                return self._configure(message)
            case "KeepAlive":
                return []
            case _:
                known = "CloseStream, ForceEndTurn, Configure or KeepAlive"
                error = f"a text is an object of JSON with a type: {known}"
                return self.fail(BadRequest(error))

    def receive_event(self, event: Event, channel: int = 0) -> list[Action]:
        """Tell what the engine says."""
        if self._is_over:
            return []
        match event:
            case EagerEndOfTurn(final):
                return [*self._failure_of(final), *_sent(self._turns.eager_end(event))]
            case TurnResumed():
                return _sent(self._turns.resumed(event))
            case Configured(warnings):
                return self._configured(warnings)
            case UnboostablePhrase() | LimitedBoost():
                return self._warn(self._of_boosts([event]))
            case _:
                return super().receive_event(event, channel)

    def _configure(self, message: Mapping[str, object]) -> list[Action]:
        if self._pending_wishes is not None:
            return self._refuse("CONFIGURE_ALREADY_PENDING", "the last Configure is not done yet")
        try:
            asked = self._wishes.changed_by(message)
            boosts = self._boosts.parse(asked.keyterms, self._keywords)
        except TooManyPhrases as error:
            return self._refuse("CONFIGURE_KEYTERM_LIMIT_EXCEEDED", str(error))
        except BadRequest as error:
            return self._refuse("CONFIGURE_INVALID", str(error))
        self._pending_wishes = asked
        return [Ask(Configure(boosts, endpoint=asked.turns.endpoint(self._endpoint)))]

    def _configured(self, warnings: Iterable[BoostWarning]) -> list[Action]:
        before, wishes = self._wishes, self._pending_wishes or self._wishes
        self._wishes, self._pending_wishes = wishes, None
        endpoint = wishes.turns.endpoint(self._endpoint)
        writing = replace(self._writing, smart_format=wishes.numerals)
        self._turns.go_by(writing, endpoint.silence_ms)
        told = [
            *self._boosts.warnings(wishes.keyterms, self._keywords),
            *self._of_boosts(warnings),
        ]
        if endpoint.turn is None and wishes.turns != before.turns:
            told.append(unsupported("thresholds", CANNOT_TELL))
        return [Send(self._messages.configured(wishes)), *self._warn(told)]

    def _not_configured(self, reason: str) -> list[Action]:
        self._pending_wishes = None
        return self._refuse("CONFIGURE_INVALID", reason)

    def _partial(self, partial: Partial) -> list[Action]:
        return _sent(self._turns.partial(partial))

    def _final(self, final: Final) -> list[Action]:
        return [*self._failure_of(final), *_sent(self._turns.final(final))]

    def _failure_of(self, final: Final) -> list[Action]:
        """A warning of words that the first pass alone has chosen."""
        if not final.second_pass_failed:
            return []
        said = "an internal error kept the second pass from choosing"
        return self._warn(
            [RequestWarning(parameter="mode", type="second_pass_failed", message=said)]
        )

    def _last(self) -> Sequence[Message]:
        error = self._close.error
        return () if error is None else [self._messages.error(error)]

    def _complaint(self, error: BaseException) -> Sequence[Message]:
        return [self._messages.error(error)]

    def _refuse(self, code: str, description: str) -> list[Action]:
        return [Send(self._messages.not_configured(code, description))]

    def _of_boosts(self, events: Iterable[BoostWarning]) -> list[RequestWarning]:
        return boost_warnings(events, AskedPhrases.of(self._wishes.keyterms, self._keywords))

    def _warn(self, warnings: Iterable[RequestWarning]) -> list[Action]:
        return _sent(map(self._messages.warning, warnings))


def _sent(messages: Iterable[Message]) -> list[Action]:
    """Messages to be sent, of which none gives way to a newer one: they are numbered."""
    return [Send(each) for each in messages]
