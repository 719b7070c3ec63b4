"""What a stream's caller was told of an utterance that may last over several segments."""

from collections.abc import Sequence
from dataclasses import dataclass

from earshot.streaming.events import Word


@dataclass
class Utterance:
    """State of `SpeechStarted` and `UtteranceEnd` across segments."""

    speaking: bool = False
    last_word_end_s: float | None = None

    def ended(self, words: Sequence[Word], speech_final: bool) -> None:
        """A final has been told."""
        self.speaking = self.speaking and not speech_final
        if words:
            self.last_word_end_s = words[-1].end_s
