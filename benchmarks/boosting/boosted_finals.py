"""Recordings with boosts as clients get their finals: of the bundled model, with its defaults."""

from __future__ import annotations

from collections.abc import Sequence

from earshot.service.library.transcriber import Transcriber
from earshot.streaming.stream_config import Boost
from earshot.training.corpus.utterance import Utterance


class BoostedFinals:
    """Transcribes recordings whole, each with a list of names at one weight."""

    def __init__(self, transcriber: Transcriber) -> None:
        self._transcriber = transcriber

    def texts(self, speech: Sequence[Utterance], names: Sequence[str], weight: float) -> list[str]:
        """`text` of each recording."""
        return [self.text(each, names, weight) for each in speech]

    def text(self, recording: Utterance, names: Sequence[str], weight: float) -> str:
        """What the finals of a recording say, in words as they are heard."""
        boosts = [Boost(name, weight) for name in names]
        said = self._transcriber.transcribe(recording.path, boosts=boosts)
        return " ".join(word.text.lower() for word in said.words)
