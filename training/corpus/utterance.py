"""One recording of a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Utterance:
    """One recording: `path` of the audio, who speaks, for how long, and what.

    The text is normalised; it is empty for noise and where nobody knows it.
    """

    path: Path
    corpus: str
    speaker: str
    seconds: float
    text: str
