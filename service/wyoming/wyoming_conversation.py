"""The protocol of Wyoming without the connection: an utterance from start to stop has one text."""

import json
from collections.abc import Mapping
from typing import Any

from earshot.service.audio.socket_audio import SocketAudio
from earshot.service.best_reading import best_text
from earshot.service.errors import BadRequest, ServiceError
from earshot.service.outcomes import NORMAL_CLOSURE, outcome_of, public_message
from earshot.service.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)
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
from earshot.streaming.errors import StreamingError
from earshot.streaming.events import Closed, Event, Failed, Final
from earshot.streaming.requests import FINALIZE, FINISH, Cancel, Configure

_WIDTH_BYTES = 2
_PHRASES = ("transcript_names", "transcript_terms")


class WyomingConversation:
    """One connection, on which several utterances may follow each other. info: what it is told."""

    def __init__(
        self, rules: ParameterRules, model_rate_hz: int, info: Mapping[str, object]
    ) -> None:
        self._rules = rules
        self._model_rate_hz = model_rate_hz
        self._info = info
        self._asked: Mapping[str, Any] = {}
        self._parameters: ListenParameters | None = None
        self._audio: SocketAudio | None = None
        self._texts: list[str] = []
        self._stops = 0
        self._is_over = False
        self._close = Close(NORMAL_CLOSURE)

    @property
    def awaits(self) -> str | None:
        """An event, but while the client waits for a text."""
        return None if self._is_over or self._stops else "event"

    def opened(self) -> list[Action]:
        """The client speaks first."""
        return []

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Take the samples of an `audio-chunk`; without a start before they are nobody's."""
        if self._is_over or self._audio is None:
            return []
        try:
            return pushed(self._audio.decode(data))
        except ServiceError as error:
            return self.fail(error)

    def receive_text(self, text: str) -> list[Action]:
        """Take another event; those of services that are not here are passed over."""
        if self._is_over:
            return []
        event: dict[str, Any] = json.loads(text)
        data: dict[str, Any] = event.get("data") or {}
        try:
            match event.get("type"):
                case "describe":
                    return [_event("info", self._info)]
                case "ping":
                    return [_event("pong", {"text": data.get("text")})]
                case "transcribe":
                    self._asked = data
                case "audio-start":
                    return self._start(data)
                case "audio-stop" if self._audio is not None:
                    return self._stop()
        except (ServiceError, StreamingError) as error:
            return self.fail(error)
        return []

    def receive_event(self, event: Event, channel: int = 0) -> list[Action]:
        """Gather an utterance's texts, and tell them when it was stopped."""
        if self._is_over:
            return []
        match event:
            case Final():
                self._gather(event)
                if event.from_finalize and self._stops:
                    self._stops -= 1
                    return [self._transcript()]
            case Closed():
                self._is_over = True
                return [*([self._transcript()] if self._texts else []), self._close]
            case Failed(error):
                return self.fail(error)
            case _:
                pass
        return []

    def fail(self, error: BaseException) -> list[Action]:
        """End for an error: the client is told why, then the connection is closed."""
        if self._is_over:
            return []
        self._is_over = True
        told = {"text": public_message(error), "code": outcome_of(error).err_code}
        return [Ask(Cancel()), _event("error", told), Close.of(error)]

    def idle(self, error: BaseException) -> list[Action]:
        """End the connection of a silent client."""
        return self._end(Close.of(error))

    def drain(self) -> list[Action]:
        """End because the server stops: the text so far, then the end."""
        return self._end(RESTARTING)

    def disconnect(self) -> list[Action]:
        """The client is gone: nobody reads the text."""
        self._is_over = True
        return [Ask(Cancel())]

    def _start(self, data: Mapping[str, Any]) -> list[Action]:
        """Begin an utterance: the first opens the stream, others may have other words to favour."""
        parameters = parse_parameters(self._query(data), self._rules, is_file=False)
        before = self._parameters
        if before is not None and before.stream.language != parameters.stream.language:
            raise BadRequest("language: fixed for a connection; open another for another language")
        self._parameters = parameters
        self._audio = SocketAudio(parameters.pcm, self._model_rate_hz)
        if before is None:
            return [Open(parameters.stream)]
        if before.stream.boosts == parameters.stream.boosts:
            return []
        return [Ask(Configure(parameters.stream.boosts))]

    def _query(self, data: Mapping[str, Any]) -> list[tuple[str, str]]:
        if data.get("width", _WIDTH_BYTES) != _WIDTH_BYTES:
            raise BadRequest(f"width={data['width']}: samples have {_WIDTH_BYTES} bytes here")
        phrases = [each for name in _PHRASES for each in _texts(self._asked, name)]
        return [
            ("encoding", "linear16"),
            ("sample_rate", f"{data.get('rate')}"),
            ("channels", f"{data.get('channels', 1)}"),
            ("model", f"{self._asked.get('name') or ''}"),
            ("language", f"{self._asked.get('language') or ''}"),
            *self._rules.as_written,
            *(("keyterm", phrase) for phrase in phrases),
        ]

    def _stop(self) -> list[Action]:
        assert self._audio is not None
        try:
            tails = self._audio.flush()
        finally:
            self._audio = None
        self._stops += 1
        return [*pushed(tails), Ask(FINALIZE)]

    def _gather(self, final: Final) -> None:
        assert self._parameters is not None
        text = best_text(self._parameters.writing.of(final))
        self._texts += [text] if text else []

    def _transcript(self) -> Send:
        text, self._texts = " ".join(self._texts), []
        return _event("transcript", {"text": text})

    def _end(self, close: Close) -> list[Action]:
        if self._parameters is None:
            self._is_over = True
            return [close]
        self._close = close
        tails = [] if self._audio is None else self._audio.flush()
        self._audio = None
        return [*pushed(tails), Ask(FINISH)]


def _event(kind: str, data: Mapping[str, object]) -> Send:
    return Send(JsonMessage({"type": kind, "data": data}))


def _texts(asked: Mapping[str, Any], name: str) -> list[str]:
    found = asked.get(name) or []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise BadRequest(f"{name}: must be a list of texts")
    return found
