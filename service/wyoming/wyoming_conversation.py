"""The protocol of Wyoming without the connection: an utterance from start to stop has one text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from earshot.service.best_reading import best_text
from earshot.service.errors import BadRequest, ServiceError
from earshot.service.outcomes import outcome_of, public_message
from earshot.service.request.parameters import ParameterRules, parse_parameters
from earshot.service.sessions.actions import Action, Ask, JsonMessage, Message, Send
from earshot.service.sessions.stream_conversation import StreamConversation
from earshot.streaming.errors import StreamingError
from earshot.streaming.events import Final
from earshot.streaming.requests import FINALIZE, Configure

_WIDTH_BYTES = 2
_PHRASES = ("transcript_names", "transcript_terms")


class WyomingConversation(StreamConversation):
    """One connection, on which several utterances may follow each other. info: what it is told."""

    awaited = "event"

    def __init__(
        self, rules: ParameterRules, model_rate_hz: int, info: Mapping[str, object]
    ) -> None:
        super().__init__(model_rate_hz)
        self._rules = rules
        self._info = info
        self._asked: Mapping[str, Any] = {}
        self._texts: list[str] = []
        self._stops = 0

    @property
    def awaits(self) -> str | None:
        """An event, but while the client waits for a text."""
        return None if self._stops else super().awaits

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Take the samples of an `audio-chunk`; without a start before they are nobody's."""
        return [] if self._is_over or self._audio is None else self._hear(data)

    def receive_text(self, text: str) -> list[Action]:
        """Take another event; those of services that are not here are passed over."""
        if self._is_over:
            return []
        event: dict[str, Any] = json.loads(text)
        data: dict[str, Any] = event.get("data") or {}
        try:
            match event.get("type"):
                case "describe":
                    return [Send(_event("info", self._info))]
                case "ping":
                    return [Send(_event("pong", {"text": data.get("text")}))]
                case "transcribe":
                    self._asked = data
                case "audio-start" if not self._is_ending:
                    return self._start(data)
                case "audio-stop" if self._audio is not None:
                    self._stops += 1
                    return [*self._flush(), Ask(FINALIZE)]
        except (ServiceError, StreamingError) as error:
            return self.fail(error)
        return []

    def _start(self, data: Mapping[str, Any]) -> list[Action]:
        """Begin an utterance: the first opens the stream, others may have other words to favour."""
        parameters = parse_parameters(self._query(data), self._rules, is_file=False)
        before = None if self._parameters is None else self._parameters.stream
        if before is not None and before.language != parameters.stream.language:
            raise BadRequest("language: fixed for a connection; open another for another language")
        opening = self._begin(parameters)
        if before is None or before.boosts == parameters.stream.boosts:
            return opening
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

    def _final(self, final: Final) -> list[Action]:
        """Gather an utterance's texts, and tell them when it was stopped."""
        self._texts += filter(None, [best_text(self._written(final))])
        if not (final.from_finalize and self._stops):
            return []
        self._stops -= 1
        return [Send(self._transcript())]

    def _not_configured(self, reason: str) -> list[Action]:
        return self.fail(BadRequest(reason))

    def _last(self) -> Sequence[Message]:
        return [self._transcript()] if self._texts else []

    def _complaint(self, error: BaseException) -> Sequence[Message]:
        told = {"text": public_message(error), "code": outcome_of(error).err_code}
        return [_event("error", told)]

    def _transcript(self) -> JsonMessage:
        text, self._texts = " ".join(self._texts), []
        return _event("transcript", {"text": text})


def _event(kind: str, data: Mapping[str, object]) -> JsonMessage:
    return JsonMessage({"type": kind, "data": data})


def _texts(asked: Mapping[str, Any], name: str) -> list[str]:
    found = asked.get(name) or []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise BadRequest(f"{name}: must be a list of texts")
    return found
