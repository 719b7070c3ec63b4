"""A realtime session of transcription without the socket: events in, events out.

The stream is opened at the first audio, as the updates before it have it.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from earshot.service.errors import BadRequest, ServiceError
from earshot.service.http.refusals import Refusal
from earshot.service.openai.realtime_events import RealtimeEvents
from earshot.service.openai.realtime_turns import RealtimeTurns
from earshot.service.openai.realtime_wishes import RealtimeWishes
from earshot.service.openai.refusal_answer import error_of
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.actions import Action, Ask, Message, Send
from earshot.service.sessions.json_object import object_of
from earshot.service.sessions.stream_conversation import StreamConversation
from earshot.service.writing import AS_HEARD
from earshot.streaming.errors import StreamingError
from earshot.streaming.events import Final, Partial, SpeechStarted
from earshot.streaming.requests import FINALIZE, Configure

MAX_TEXT_CHARS = 1 << 20
_UPDATES = ("session.update", "transcription_session.update")


class RealtimeConversation(StreamConversation):
    """One session, which lasts until its client leaves or is silent. session_id: of the request."""

    awaited = "event"

    def __init__(self, rules: ParameterRules, model_rate_hz: int, session_id: str) -> None:
        super().__init__(model_rate_hz)
        self._rules = rules
        self._session_id = session_id
        self._wishes = RealtimeWishes()
        self._events = RealtimeEvents(session_id)
        self._turns = RealtimeTurns(self._events, AS_HEARD)
        self._has_uncommitted = False

    def opened(self) -> list[Action]:
        """Tell what a session does that asks for nothing."""
        return [Send(self._events.session("created", self._wishes.told(self._rules)))]

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Refuse: all comes as text."""
        if self.awaits is None:
            return []
        return [self._told(BadRequest("a message is an event of JSON; audio in base64"))]

    def receive_text(self, text: str) -> list[Action]:
        """Take an event; what is wrong with it is told, and the session goes on."""
        if self.awaits is None:
            return []
        message = object_of(text, MAX_TEXT_CHARS)
        try:
            if message is None:
                raise BadRequest(
                    f"an event is an object of JSON of at most {MAX_TEXT_CHARS} letters"
                )
            return self._take(message)
        except (ServiceError, StreamingError) as error:
            return [self._told(error, message)]

    def _take(self, message: dict[str, Any]) -> list[Action]:
        match message.get("type"):
            case "input_audio_buffer.append":
                return self._append(message.get("audio"))
            case "input_audio_buffer.commit":
                return self._commit()
            case "input_audio_buffer.clear":
                return self._clear()
            case kind if kind in _UPDATES:
                return self._update(message.get("session"))
            case kind:
                raise BadRequest(f"type: {kind!r} is not done here, this server only transcribes")

    def _append(self, audio: object) -> list[Action]:
        if not isinstance(audio, str):
            raise BadRequest("audio: must be a text of base64")
        try:
            data = base64.b64decode(audio, validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadRequest("audio: must be a text of base64") from error
        opening: list[Action] = []
        if self._parameters is None:
            parameters = self._wishes.parameters(self._rules)
            opening = self._begin(parameters)
            self._turns.writing = parameters.writing
        self._has_uncommitted = self._has_uncommitted or bool(data)
        return [*opening, *self._hear(data)]

    def _commit(self) -> list[Action]:
        if not self._has_uncommitted:
            raise BadRequest("there is no audio to commit")
        self._has_uncommitted = False
        return [*self._turns.commit(), Ask(FINALIZE)]

    def _clear(self) -> list[Action]:
        """End the text under way and drop it: what was heard cannot be unheard."""
        if self._parameters is None:
            return [Send(self._events.buffer("cleared"))]
        self._has_uncommitted = False
        return [*self._turns.clear(), Ask(FINALIZE)]

    def _update(self, session: object) -> list[Action]:
        wishes = self._wishes.changed_by(session)
        parameters = wishes.parameters(self._rules)  # so that what is wrong is told now
        asked: list[Action] = []
        if self._parameters is not None:
            if _fixed(wishes) != _fixed(self._wishes):
                raise BadRequest("session: once audio has come only keywords may change")
            asked = [Ask(Configure(parameters.stream.boosts))]
        self._wishes = wishes
        warnings = [each.model_dump(exclude_none=True) for each in parameters.warnings]
        told = {**wishes.told(self._rules), **({"warnings": warnings} if warnings else {})}
        return [*asked, Send(self._events.session("updated", told))]

    def _partial(self, partial: Partial) -> list[Action]:
        return self._turns.partial(partial)

    def _final(self, final: Final) -> list[Action]:
        return self._turns.final(final)

    def _started(self, started: SpeechStarted) -> list[Action]:
        return self._turns.started(started.time_s)

    def _not_configured(self, reason: str) -> list[Action]:
        return [self._told(BadRequest(reason))]

    def _complaint(self, error: BaseException) -> Sequence[Message]:
        return [self._told(error).message]

    def _told(self, error: BaseException, message: dict[str, Any] | None = None) -> Send:
        """The error, with the id that the client gave the event."""
        told = error_of(Refusal.of(error, self._session_id))
        return Send(self._events.error({**told, "event_id": (message or {}).get("event_id")}))


def _fixed(wishes: RealtimeWishes) -> RealtimeWishes:
    """All but the words to favour: it may not change once audio has come."""
    named = wishes.transcription or {}
    kept = {name: value for name, value in named.items() if name != "keywords"}
    return replace(wishes, transcription=kept)
