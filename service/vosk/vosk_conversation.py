"""The protocol of vosk-server without the socket: for each message of audio one of text.

What a client gets is what is known when its audio comes: a text that is done, if one waits, else
the one under way. Only the answers to `eof` and `reset` wait for the engine.
"""

from collections.abc import Sequence

from earshot.service.best_reading import best_text
from earshot.service.errors import BadRequest, ServiceError
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.actions import Action, Ask, JsonMessage, Message, Send
from earshot.service.sessions.json_object import object_of
from earshot.service.sessions.stream_conversation import StreamConversation
from earshot.service.vosk.vosk_config import VoskConfig
from earshot.service.vosk.vosk_messages import final_message, partial_message
from earshot.streaming.errors import StreamingError
from earshot.streaming.events import Final, Partial
from earshot.streaming.requests import FINALIZE

MAX_TEXT_CHARS = 128 * 1024


class VoskConversation(StreamConversation):
    """One session. An error has no message in it, only a close code and a reason."""

    def __init__(self, rules: ParameterRules, model_rate_hz: int) -> None:
        super().__init__(model_rate_hz)
        self._rules = rules
        self._config = VoskConfig()
        self._text = ""
        self._finals: list[Final] = []
        self._resets = 0

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Take audio, and answer with what is known."""
        if self.awaits is None:
            return []
        try:
            opening = self._opening()
        except (ServiceError, StreamingError) as error:
            return self.fail(error)
        heard = self._hear(data)
        return heard if self._is_over else [*opening, *heard, Send(self._known())]

    def receive_text(self, text: str) -> list[Action]:
        """Take a `config`, `eof` or `reset`."""
        if self.awaits is None:
            return []
        try:
            return self._take(object_of(text, MAX_TEXT_CHARS))
        except (ServiceError, StreamingError) as error:
            return self.fail(error)

    def _take(self, message: dict[str, object] | None) -> list[Action]:
        if message is None:
            raise BadRequest("a message of text must be an object of JSON")
        if "config" in message:
            if self._parameters is None:  # one that comes later changes nothing in Vosk
                self._config = self._config.changed_by(message["config"])
            return []
        if "eof" in message:
            return [*self._opening(), *self._finish()]
        if "reset" not in message:
            raise BadRequest("a message is audio, a config, eof or reset")
        self._resets += 1
        return [*self._opening(), Ask(FINALIZE)]

    def _opening(self) -> list[Action]:
        """Open the stream, if it is not, as the config has it by now."""
        if self._parameters is not None:
            return []
        return self._begin(self._config.parameters(self._rules))

    def _partial(self, partial: Partial) -> list[Action]:
        self._text = best_text(self._written(partial))
        return []

    def _final(self, final: Final) -> list[Action]:
        self._finals.append(self._written(final))
        self._text = ""
        if not (final.from_finalize and self._resets):
            return []
        self._resets -= 1
        return [Send(self._done(len(self._finals)))]

    def _last(self) -> Sequence[Message]:
        return [self._done(len(self._finals))]

    def _known(self) -> JsonMessage:
        return self._done(1) if self._finals else partial_message(self._text)

    def _done(self, count: int) -> JsonMessage:
        """The first of the texts that are done, as one."""
        told, self._finals = self._finals[:count], self._finals[count:]
        return final_message(told, words=self._config.words, alternatives=self._config.alternatives)
