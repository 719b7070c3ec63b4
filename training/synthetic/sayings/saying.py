"""A text to be said."""

from __future__ import annotations

from dataclasses import dataclass, field

from earshot.language.text.transcript_text import normalise_text


@dataclass(frozen=True)
class Saying:
    """Text for an engine, with punctuation for its melody, and what an order asks for."""

    spoken: str
    slots: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The transcript: lower case letters, spaces and apostrophes."""
        return normalise_text(self.spoken)
