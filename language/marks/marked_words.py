"""Words without capitals and marks, and beside each how it was written: what a tagger learns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from earshot.language.text.transcript_text import FOLDED


class Mark(IntEnum):
    """The mark after a word; UNSURE after those of which a text says nothing clear (a dash)."""

    UNSURE = -1
    NONE = 0
    COMMA = 1
    STOP = 2
    QUESTION = 3


class Capital(IntEnum):
    """How a word is spelled: `OWN` is a form of its own, like McDonald or O'Brien."""

    LOWER = 0
    FIRST = 1
    ALL = 2
    OWN = 3


SIGNS = {Mark.NONE: "", Mark.COMMA: ",", Mark.STOP: ".", Mark.QUESTION: "?"}
ENDS = frozenset((Mark.STOP, Mark.QUESTION))
"""Marks that end a sentence."""

_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*")
_TITLES = {
    "Mr": "Mister", "Mrs": "Missus", "Dr": "Doctor", "St": "Saint", "Prof": "Professor",
    "Gen": "General", "Col": "Colonel", "Capt": "Captain", "Lt": "Lieutenant", "Rev": "Reverend",
}  # fmt: skip
_TITLE = re.compile(rf"\b({'|'.join(_TITLES)})\.(?= [A-Z])")
_MARKS = (
    (Mark.QUESTION, "?"),
    (Mark.STOP, ".!"),
    (Mark.COMMA, ",;:"),
)


@dataclass(frozen=True)
class MarkedWord:
    """text: in lower case. form: as it stood, without its mark."""

    text: str
    form: str
    capital: Capital
    mark: Mark


def marked_words(text: str) -> list[MarkedWord]:
    """The words of a text of letters, in order; figures in it are passed over.

    Titles are written out (Mr. is Mister); what hyphens join are words of their own.
    """
    plain = titles_said(text.translate(FOLDED))
    found = list(_WORD.finditer(plain))
    after = [match.start() for match in found[1:]] + [len(plain)] * bool(found)
    return [
        MarkedWord(
            match[0].lower(),
            match[0],
            capital_of(match[0]),
            _mark_between(plain[match.end() : stop], plain[stop : stop + 1]),
        )
        for match, stop in zip(found, after, strict=True)
    ]


def titles_said(text: str) -> str:
    """Titles before names as they are said: "Mister" for "Mr."."""
    return _TITLE.sub(lambda match: _TITLES[match[1]], text)


def capital_of(form: str) -> Capital:
    """How a word stands there. A single letter has a first one, and no more."""
    if form == form.lower():
        return Capital.LOWER
    if form[0].isupper() and form[1:] == form[1:].lower():
        return Capital.FIRST
    return Capital.ALL if form == form.upper() else Capital.OWN


def written(text: str, capital: Capital, mark: Mark, forms: Mapping[str, str]) -> str:
    """A word in lower case as it is to be read; forms: those of words that have their own."""
    return spelled(text, capital, forms) + SIGNS.get(mark, "")


def spelled(text: str, capital: Capital, forms: Mapping[str, str]) -> str:
    """A word with its capitals. One that has no form of its own begins with a capital."""
    if capital == Capital.LOWER:
        return text
    if capital == Capital.ALL:
        return text.upper()
    first = text[:1].upper() + text[1:]
    return forms.get(text, first) if capital == Capital.OWN else first


def _mark_between(gap: str, following: str) -> Mark:
    """The mark that stands between two words; a full stop before a small letter ends nothing."""
    for mark, signs in _MARKS:
        if any(sign in gap for sign in signs):
            sure = mark != Mark.STOP or "!" in gap or not following.islower()
            return mark if sure else Mark.UNSURE
    return Mark.UNSURE if "--" in gap or "—" in gap or "(" in gap or ")" in gap else Mark.NONE
