"""How well capitals and marks are told: precision and recall, as F1, each kind for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from earshot.language.marks.marked_words import (
    Capital,
    Mark,
    MarkedWord,
    spelled,
)
from earshot.language.marks.word_tagger import Tag

KINDS = ("full stop", "comma", "question mark", "capitals", "names inside a sentence")


@dataclass
class Tally:
    """right: told and true. told, true: how often."""

    right: int = 0
    told: int = 0
    true: int = 0

    def note(self, told: bool, true: bool, right: bool) -> None:
        """Count one word."""
        self.told += told
        self.true += true
        self.right += told and true and right

    @property
    def f1(self) -> float:
        """Of precision and recall the harmonic mean; 0 where there is nothing."""
        return 2 * self.right / max(self.told + self.true, 1)


@dataclass
class Scores:
    """Tallies by kind; see `KINDS`."""

    tallies: Mapping[str, Tally] = field(default_factory=lambda: {kind: Tally() for kind in KINDS})

    def note(
        self, true: Sequence[MarkedWord], told: Sequence[Tag], forms: Mapping[str, str]
    ) -> None:
        """Count the words of a text. Marks that the text is not sure of count for nothing."""
        inside = False
        for word, tag in zip(true, told, strict=True):
            self._note_mark(word.mark, tag.mark)
            form = spelled(word.text, tag.capital, forms)
            differ = word.capital != Capital.LOWER, form != word.text
            self.tallies["capitals"].note(differ[1], differ[0], form == word.form)
            if inside and word.text.split("'")[0] != "i":
                names = self.tallies["names inside a sentence"]
                names.note(differ[1], differ[0], form == word.form)
            inside = word.mark == Mark.NONE or word.mark == Mark.COMMA

    def _note_mark(self, true: Mark, told: Mark) -> None:
        if true == Mark.UNSURE:
            return
        kinds = {"full stop": Mark.STOP, "comma": Mark.COMMA, "question mark": Mark.QUESTION}
        for kind, mark in kinds.items():
            self.tallies[kind].note(told == mark, true == mark, True)

    @property
    def f1(self) -> dict[str, float]:
        """F1 by kind."""
        return {kind: tally.f1 for kind, tally in self.tallies.items()}


def trivial_tags(words: Sequence[str]) -> list[Tag]:
    """What anybody can do: a capital first, a full stop last, and "I"."""
    last = len(words) - 1
    return [
        Tag(
            Capital.FIRST if not place or word.split("'")[0] == "i" else Capital.LOWER,
            Mark.STOP if place == last else Mark.NONE,
        )
        for place, word in enumerate(words)
    ]
