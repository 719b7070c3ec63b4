"""A realtime session of transcription without the socket: events in, events out.

The stream is opened at the first audio, as the updates before it have it.
"""

import base64
import binascii
from dataclasses import replace
from typing import Any

from earshot.service.audio.socket_audio import SocketAudio
from earshot.service.errors import BadRequest, ServiceError
from earshot.service.http.refusals import Refusal
from earshot.service.openai.realtime_events import RealtimeEvents
from earshot.service.openai.realtime_turns import RealtimeTurns
from earshot.service.openai.realtime_wishes import RealtimeWishes
from earshot.service.openai.refusal_answer import error_of
from earshot.service.outcomes import NORMAL_CLOSURE
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.actions import RESTARTING, Action, Ask, Close, Open, Send, pushed
from earshot.service.sessions.json_object import object_of
from earshot.service.writing import AS_HEARD
from earshot.streaming.errors import StreamingError
from earshot.streaming.events import Closed, Event, Failed, Final, Partial, SpeechStarted
from earshot.streaming.requests import FINALIZE, FINISH, Cancel, Configure

MAX_TEXT_CHARS = 1 << 20
_UPDATES = ("session.update", "transcription_session.update")


class RealtimeConversation:
    """One session. session_id: of the request."""

    def __init__(self, rules: ParameterRules, model_rate_hz: int, session_id: str) -> None:
        self._rules = rules
        self._model_rate_hz = model_rate_hz
        self._session_id = session_id
        self._wishes = RealtimeWishes()
        self._events = RealtimeEvents(session_id)
        self._turns = RealtimeTurns(self._events, AS_HEARD)
        self._audio: SocketAudio | None = None
        self._is_over = self._is_ending = False
        self._has_uncommitted = False
        self._close = Close(NORMAL_CLOSURE)

    @property
    def awaits(self) -> str | None:
        """Always an event: a client that sends none for a while is idle."""
        return None if self._is_over or self._is_ending else "event"

    def opened(self) -> list[Action]:
        """Tell what a session does that asks for nothing."""
        return [Send(self._events.session("created", self._wishes.told))]

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Refuse: all comes as text."""
        return [self._complaint(BadRequest("a message is an event of JSON; audio in base64"), None)]

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
            return [self._complaint(error, message)]

    def receive_event(self, event: Event, channel: int = 0) -> list[Action]:
        """Tell what the engine says."""
        if self._is_over:
            return []
        match event:
            case SpeechStarted(time_s):
                return self._turns.started(time_s)
            case Partial():
                return self._turns.partial(event)
            case Final():
                return self._turns.final(event)
            case Closed():
                self._is_over = True
                return [self._close]
            case Failed(error):
                return self.fail(error)
            case _:
                return []

    def fail(self, error: BaseException) -> list[Action]:
        """End for an error: the client is told why, then the socket is closed."""
        if self._is_over:
            return []
        self._is_over = True
        return [Ask(Cancel()), self._complaint(error, None), Close.of(error)]

    def idle(self, error: BaseException) -> list[Action]:
        """End the session of a silent client: last results, then the error's code."""
        return self._end(Close.of(error))

    def drain(self) -> list[Action]:
        """End because the server stops: last results, then a code to reconnect on."""
        return self._end(RESTARTING)

    def disconnect(self) -> list[Action]:
        """The client is gone: nobody reads the results."""
        self._is_over = True
        return [Ask(Cancel())]

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
        opening = self._opening()
        assert self._audio is not None
        try:
            heard = self._audio.decode(data)
        except ServiceError as error:  # its samples are lost, and with them their times
            return self.fail(error)
        self._has_uncommitted = self._has_uncommitted or bool(data)
        return [*opening, *pushed(heard)]

    def _commit(self) -> list[Action]:
        if not self._has_uncommitted:
            raise BadRequest("there is no audio to commit")
        self._has_uncommitted = False
        return [*self._turns.commit(), Ask(FINALIZE)]

    def _clear(self) -> list[Action]:
        """End the text under way and drop it: what was heard cannot be unheard."""
        if self._audio is None:
            return [Send(self._events.buffer("cleared"))]
        self._has_uncommitted = False
        return [*self._turns.clear(), Ask(FINALIZE)]

    def _update(self, session: object) -> list[Action]:
        wishes = self._wishes.changed_by(session)
        parameters = wishes.parameters(self._rules)  # so that what is wrong is told now
        asked: list[Action] = []
        if self._audio is not None:
            if _fixed(wishes) != _fixed(self._wishes):
                raise BadRequest("session: once audio has come only keywords may change")
            asked = [Ask(Configure(parameters.stream.boosts))]
        self._wishes = wishes
        warnings = [each.model_dump(exclude_none=True) for each in parameters.warnings]
        told = {**wishes.told, **({"warnings": warnings} if warnings else {})}
        return [*asked, Send(self._events.session("updated", told))]

    def _opening(self) -> list[Action]:
        if self._audio is not None:
            return []
        parameters = self._wishes.parameters(self._rules)
        self._audio = SocketAudio(parameters.pcm, self._model_rate_hz)
        self._turns.writing = parameters.writing
        return [Open(parameters.stream)]

    def _end(self, close: Close) -> list[Action]:
        if self._audio is None:
            self._is_over = True
            return [close]
        self._close, self._is_ending = close, True
        try:
            tails = self._audio.flush()
        except ServiceError as error:
            return self.fail(error)
        return [*pushed(tails), Ask(FINISH)]

    def _complaint(self, error: BaseException, message: dict[str, Any] | None) -> Send:
        told = error_of(Refusal.of(error, self._session_id))
        return Send(self._events.error({**told, "event_id": (message or {}).get("event_id")}))


def _fixed(wishes: RealtimeWishes) -> RealtimeWishes:
    """All but the words to favour: it may not change once audio has come."""
    named = wishes.transcription or {}
    kept = {name: value for name, value in named.items() if name != "keywords"}
    return replace(wishes, transcription=kept)
