"""Results as programs get them. All times are seconds from the start of the audio."""

from dataclasses import dataclass

from earshot.service.writing import AS_HEARD, Writing
from earshot.streaming.events import Final, Partial, UnboostablePhrase, Word


@dataclass(frozen=True)
class Utterance:
    """The words up to a pause or, while `is_final` is not set, the likeliest so far.

    stable_words: so many words, from the first on, will stay as they are; all those of a final.
    confidence: the mean of the words', 0 to 1.
    """

    text: str
    words: tuple[Word, ...]
    start_s: float
    end_s: float
    confidence: float
    is_final: bool
    stable_words: int

    @classmethod
    def of(cls, event: Partial | Final, writing: Writing = AS_HEARD) -> "Utterance":
        """The best alternative of a result."""
        event = writing.of(event)
        best = event.alternatives[0]
        words = best.words
        is_final = isinstance(event, Final)
        return cls(
            text=best.text,
            words=words,
            start_s=words[0].start_s if words else event.start_s,
            end_s=words[-1].end_s if words else event.start_s + event.duration_s,
            confidence=best.confidence,
            is_final=is_final,
            stable_words=event.stable_words if isinstance(event, Partial) else len(words),
        )


@dataclass(frozen=True)
class Transcription:
    """A recording's utterances, in order.

    unboostable: phrases that were asked for and not boosted, each with the reason.
    """

    utterances: tuple[Utterance, ...]
    duration_s: float
    unboostable: tuple[UnboostablePhrase, ...] = ()

    @property
    def text(self) -> str:
        """All that was said, in one line."""
        return " ".join(utterance.text for utterance in self.utterances)

    @property
    def words(self) -> tuple[Word, ...]:
        """All words, each with its times and its confidence."""
        return tuple(word for utterance in self.utterances for word in utterance.words)
