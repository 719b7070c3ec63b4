"""The protocol of WeNet's runtime without the socket: start, audio, end."""

from collections.abc import Sequence

from earshot.service.best_reading import best_text
from earshot.service.errors import BadRequest, ServiceError
from earshot.service.outcomes import public_message
from earshot.service.request.parameters import ParameterRules, parse_parameters
from earshot.service.sessions.actions import Action, Ask, Message, Send
from earshot.service.sessions.json_object import object_of
from earshot.service.sessions.stream_conversation import StreamConversation
from earshot.service.wenet.wenet_messages import (
    READY,
    SPEECH_END,
    failed,
    final_result,
    partial_result,
)
from earshot.streaming.errors import StreamingError
from earshot.streaming.events import Final, Partial
from earshot.streaming.requests import Cancel

RATE_HZ = 16_000
"""What WeNet's clients send: nothing in the protocol says it."""

MOST_ALTERNATIVES = 10
MAX_TEXT_CHARS = 4096
_ENDS = ("end", "finalize")


class WenetConversation(StreamConversation):
    """One session, from its `start` on."""

    def __init__(self, rules: ParameterRules, model_rate_hz: int) -> None:
        super().__init__(model_rate_hz)
        self._rules = rules
        self._goes_on = False
        self._is_cut = False

    def receive_text(self, text: str) -> list[Action]:
        """Take a signal."""
        if self.awaits is None:
            return []
        message = object_of(text, MAX_TEXT_CHARS)
        signal = None if message is None else message.get("signal")
        has_started = self._parameters is not None
        if signal == "end" and has_started:
            return self._finish()
        if message is None or signal != "start" or has_started:
            return self.fail(BadRequest("a text is the signal start, once, then the signal end"))
        try:
            return self._start(message)
        except (ServiceError, StreamingError) as error:
            return self.fail(error)

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Take audio."""
        return [] if self.awaits is None else self._hear(data)

    def _start(self, message: dict[str, object]) -> list[Action]:
        nbest, goes_on = message.get("nbest", 1), message.get("continuous_decoding", False)
        if type(nbest) is not int or nbest < 1:
            raise BadRequest("nbest: must be a whole number from 1")
        if type(goes_on) is not bool:
            raise BadRequest("continuous_decoding: must be true or false")
        query = [
            ("encoding", "linear16"),
            ("sample_rate", f"{RATE_HZ}"),
            ("interim_results", "true"),
            ("alternatives", f"{min(nbest, MOST_ALTERNATIVES)}"),
        ]
        self._goes_on = goes_on
        parameters = parse_parameters(query, self._rules, is_file=False)
        return [*self._begin(parameters), Send(READY)]

    def _partial(self, partial: Partial) -> list[Action]:
        written = self._written(partial)
        return [Send(partial_result(written), 0, replaceable=True)] if best_text(written) else []

    def _final(self, final: Final) -> list[Action]:
        """A text that is done; without `continuous_decoding` the first pause ends the session.

        So does the silence behind a text that was cut for its length.
        """
        written, is_last, was_cut = self._written(final), final.cause in _ENDS, self._is_cut
        is_told = bool(best_text(written)) or is_last
        if not (is_told or was_cut):
            return []
        self._is_cut = not final.speech_final
        told: list[Action] = [Send(final_result(written), 0)] if is_told else []
        if self._goes_on or is_last or not final.speech_final:
            return told
        self._is_over = True
        return [*told, Ask(Cancel()), Send(SPEECH_END), self._close]

    def _last(self) -> Sequence[Message]:
        return [SPEECH_END]

    def _complaint(self, error: BaseException) -> Sequence[Message]:
        return [failed(public_message(error))]
