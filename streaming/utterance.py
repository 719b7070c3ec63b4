"""What a stream's caller was told of an utterance that may last over several segments."""

from collections.abc import Sequence
from dataclasses import dataclass

from earshot.decoder_kernels.lm.lm_texts import WordClass
from earshot.streaming.events import Word

WORDS_KEPT = 5
"""No language model looks further back (`decoder_kernels/lm`, `MAX_ORDER`)."""


@dataclass
class Utterance:
    """State of `SpeechStarted` and `UtteranceEnd` across segments.

    words: the last ones of an utterance that goes on, as they were heard, members of classes as
        these: a segment was cut.
    """

    speaking: bool = False
    last_word_end_s: float | None = None
    words: tuple[str | WordClass, ...] = ()

    def ended(
        self, words: Sequence[Word], heard: Sequence[str | WordClass], *, speech_final: bool
    ) -> None:
        """A final has been told; heard: its words before anybody wrote them otherwise."""
        self.speaking = self.speaking and not speech_final
        going_on = (*self.words, *heard)[-WORDS_KEPT:]
        self.words = () if speech_final else going_on
        if words:
            self.last_word_end_s = words[-1].end_s
