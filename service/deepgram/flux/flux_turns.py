"""The turns of one session of Flux: what the engine hears, as states of a turn.

A turn starts with its first words, may be told to be over eagerly, goes on where that was wrong,
and ends. Utterances that were cut for their length are of one turn, up to `LONGEST_S`.
"""

from dataclasses import dataclass, replace

from earshot.service.deepgram.flux.flux_messages import FluxMessages
from earshot.service.sessions.actions import JsonMessage
from earshot.service.writing import Writing
from earshot.streaming.events import EagerEndOfTurn, Final, Partial, TurnResumed, Word

LONGEST_S = 300.0
"""A turn ends with the first cut behind it: each of its messages has all of its words."""


@dataclass(frozen=True)
class _Heard:
    """A turn so far: its audio, text and words."""

    start_s: float
    end_s: float
    text: str = ""
    words: tuple[Word, ...] = ()


class FluxTurns:
    """Tells each change of a turn. timeout_ms: the silence that ends any; None: none does."""

    def __init__(self, messages: FluxMessages, writing: Writing, timeout_ms: int | None) -> None:
        self.go_by(writing, timeout_ms)
        self._messages = messages
        self._index = 0
        self._told: _Heard | None = None
        self._cut: _Heard | None = None
        self._eager = False

    def go_by(self, writing: Writing, timeout_ms: int | None) -> None:
        """Write texts so, and tell timeouts from other ends by this."""
        self._writing, self._timeout_ms = writing, timeout_ms

    def partial(self, partial: Partial) -> list[JsonMessage]:
        """Words that may change; none that the first pass has for those of an eager end."""
        heard = self._heard(partial)
        if self._eager or (self._told is None and not heard.text):
            return []
        known = "" if self._told is None else self._told.text
        return self._go_on(heard) or ([] if heard.text == known else [self._tell("Update", heard)])

    def eager_end(self, event: EagerEndOfTurn) -> list[JsonMessage]:
        """The turn may well be over."""
        heard = self._heard(event.final)
        told = self._go_on(heard)
        self._eager = True
        return [*told, self._tell("EagerEndOfTurn", heard, _known(event.final))]

    def resumed(self, event: TurnResumed) -> list[JsonMessage]:
        """It is not; nothing is told where the client knows already."""
        if not self._eager or self._told is None:
            return []
        return self._resume(replace(self._told, end_s=event.time_s))

    def final(self, final: Final) -> list[JsonMessage]:
        """Words that are done, and with them the turn, unless they were cut for their length."""
        heard = self._heard(final)
        if self._told is None and not heard.text:
            return []
        told = self._go_on(heard)
        if not final.speech_final and heard.end_s - heard.start_s < LONGEST_S:
            self._cut = heard
            resumed = self._resume(heard) if self._eager else []
            return [*told, *resumed] or [self._tell("Update", heard)]
        told.append(self._tell("EndOfTurn", heard, _known(final), trigger=self._trigger(final)))
        self._index += 1
        self._told, self._cut, self._eager = None, None, False
        return told

    def _go_on(self, heard: _Heard) -> list[JsonMessage]:
        """Start the turn, or resume one that has other words than its eager end had."""
        if self._told is None:
            return [self._tell("StartOfTurn", heard)]
        return self._resume(heard) if self._eager and heard.text != self._told.text else []

    def _resume(self, heard: _Heard) -> list[JsonMessage]:
        self._eager = False
        return [self._tell("TurnResumed", heard)]

    def _heard(self, result: Partial | Final) -> _Heard:
        """The turn with a result of its last utterance."""
        before = self._cut or _Heard(result.start_s, result.start_s)
        best = self._writing.of(result).alternatives[:1]
        texts = [before.text, *(each.text for each in best)]
        return _Heard(
            before.start_s,
            result.start_s + result.duration_s,
            " ".join(filter(None, texts)),
            (*before.words, *(word for each in best for word in each.words)),
        )

    def _tell(
        self, event: str, heard: _Heard, confidence: float = 0.0, **more: object
    ) -> JsonMessage:
        self._told = heard
        window_s = (heard.start_s, heard.end_s)
        return self._messages.turn(
            event, self._index, window_s, heard.text, heard.words, confidence, **more
        )

    def _trigger(self, final: Final) -> str:
        """The cause of the end, in Flux's words."""
        if final.cause in ("finalize", "end"):
            return "manual"
        is_short = self._timeout_ms is None or final.pause_s * 1000 < self._timeout_ms
        # Without words of its own it is the silence behind a cut.
        is_model = final.cause == "endpoint" and is_short and final.alternatives[0].text
        return "model" if is_model else "timeout"


def _known(final: Final) -> float:
    """The likelihood that the turn is over, 0 where nobody has asked."""
    return final.end_of_turn_confidence or 0.0
