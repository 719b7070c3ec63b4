"""The messages of one session in Flux's shape; docs/protocol.md describes each."""

from collections.abc import Sequence

from earshot.service.deepgram.flux.flux_wishes import FluxWishes
from earshot.service.outcomes import outcome_of, public_message
from earshot.service.request.request_warning import RequestWarning
from earshot.service.sessions.actions import JsonMessage
from earshot.streaming.events import Word


class FluxMessages:
    """Numbers each message that it makes: all are to be sent, in that order."""

    def __init__(self, request_id: str) -> None:
        self._request_id = request_id
        self._count = 0

    def connected(self) -> JsonMessage:
        """The first."""
        return self._of("Connected")

    def turn(
        self,
        event: str,
        turn_index: int,
        window_s: tuple[float, float],
        transcript: str,
        words: Sequence[Word],
        confidence: float,
        **more: object,
    ) -> JsonMessage:
        """A change of a turn. confidence: that it is over, 0 where nobody knows."""
        return self._of(
            "TurnInfo",
            event=event,
            turn_index=turn_index,
            audio_window_start=round(window_s[0], 3),
            audio_window_end=round(window_s[1], 3),
            transcript=transcript,
            words=[_word(each) for each in words],
            end_of_turn_confidence=round(confidence, 4),
            **more,
        )

    def configured(self, wishes: FluxWishes) -> JsonMessage:
        """The answer to a Configure that was done: all that holds."""
        return self._of(
            "ConfigureSuccess",
            thresholds=wishes.turns.told,
            keyterms=list(wishes.keyterms),
            numerals=wishes.numerals,
        )

    def not_configured(self, code: str, description: str) -> JsonMessage:
        """A Configure has changed nothing."""
        return self._of("ConfigureFailure", code=code, description=description)

    def warning(self, warning: RequestWarning) -> JsonMessage:
        """Something is done less well than asked, or not."""
        return self._of("Warning", code=warning.type.upper(), description=warning.message)

    def error(self, error: BaseException) -> JsonMessage:
        """Why the session ends."""
        return self._of("Error", code=outcome_of(error).err_code, description=public_message(error))

    def _of(self, kind: str, **body: object) -> JsonMessage:
        numbered = {"type": kind, "request_id": self._request_id, "sequence_id": self._count}
        self._count += 1
        return JsonMessage({**numbered, **body})


def _word(word: Word) -> dict[str, object]:
    return {
        "word": word.text,
        "confidence": round(word.confidence, 4),
        "start": round(word.start_s, 3),
        "end": round(word.end_s, 3),
    }
