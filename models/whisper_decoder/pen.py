"""Words as Whisper's decoder writes them: with capitals, and a mark after some."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

MARKS = (",", ".", "?")
SENTENCE_ENDS = (".", "?")
ABBREVIATIONS = frozenset({"mr", "mrs", "ms", "dr", "st", "jr", "sr", "vs", "etc", "co", "ltd"})
"""Tokens that are not said as they are written; without them the decoder writes what is said."""

WORDS_REMEMBERED = 65_536


class TextTokens(Protocol):
    """A tokenizer of texts with capitals and marks."""

    def encode(self, text: str) -> list[int]:
        """Tokens of a text."""

    def piece(self, token: int) -> bytes:
        """Bytes of a token; none of a special one."""


@dataclass(frozen=True)
class WrittenWord:
    """`bare`: in lower case and without a mark, as it is said. `form`: as it is written."""

    bare: str
    form: str

    @property
    def ends_sentence(self) -> bool:
        """Whether a full stop or a question mark follows."""
        return self.form.endswith(SENTENCE_ENDS)

    @property
    def mark(self) -> str:
        """The mark after it, if there is one."""
        return self.form[-1] if self.form.endswith(MARKS) else ""


class Pen:
    """Between words and the decoder's tokens. size: of its vocabulary; end: the token after a text.

    `kept` are the tokens that texts may be made of: letters and marks alone, for figures, brackets
    and abbreviations are not what was said.
    """

    def __init__(self, tokens: TextTokens, size: int, end: int) -> None:
        self._tokens = tokens
        self.end = end
        spoken = [token for token in range(size) if is_spoken(tokens.piece(token))]
        self.kept = sorted({*spoken, end})
        self._kept = frozenset(self.kept)
        self.full_stop = tokens.encode(".")
        self.of = lru_cache(WORDS_REMEMBERED)(self._tokens_of)

    def is_kept(self, token: int) -> bool:
        """Whether texts may be made of it."""
        return token in self._kept

    def read(self, tokens: Sequence[int]) -> list[WrittenWord]:
        """Words that tokens spell."""
        text = b"".join(map(self._tokens.piece, tokens)).decode("utf-8", "replace")
        words = (WrittenWord(form.rstrip("".join(MARKS)).lower(), form) for form in text.split())
        return [word for word in words if word.bare]

    def write(self, words: Sequence[WrittenWord]) -> list[int]:
        """Tokens of words."""
        return [token for word in words for token in self.of(word.form)]

    def _tokens_of(self, form: str) -> tuple[int, ...]:
        return tuple(self._tokens.encode(" " + form))


def is_spoken(piece: bytes) -> bool:
    """Whether texts are made of it: of a word or a part of one, a mark, or the space before a word.

    Some words have a space of their own: " iced" is " " and "iced".
    """
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if text in (*MARKS, " "):
        return True
    word = text.removeprefix(" ").replace("'", "")
    return (_is_word(word) and word.lower() not in ABBREVIATIONS) or text in ("'", " '")


def _is_word(text: str) -> bool:
    """Letters of any script, and the marks that belong to them (Unicode's categories L and M)."""
    # Most words are letters alone, which Python counts by itself.
    return text.isalpha() or (
        bool(text) and all(unicodedata.category(symbol)[0] in "LM" for symbol in text)
    )


def plainly(words: Sequence[str], starts_sentence: bool = True) -> list[WrittenWord]:
    """Words as they are written within a sentence, or at its start."""
    return [
        WrittenWord(word, _cased(word, starts_sentence and place == 0))
        for place, word in enumerate(words)
    ]


def dressed(words: Sequence[str], like: Sequence[WrittenWord]) -> list[WrittenWord]:
    """Words in the forms that they, or those in their places, have in another text."""
    marks = [""] * len(words)
    forms: list[str | None] = [None] * len(words)
    matcher = difflib.SequenceMatcher(None, [word.bare for word in like], words, autojunk=False)
    for tag, begin, stop, first, last in matcher.get_opcodes():
        if tag == "equal":
            for place, word in zip(range(first, last), like[begin:stop], strict=True):
                forms[place] = word.form.rstrip("".join(MARKS))
                marks[place] = word.mark
        elif last and stop > begin:
            marks[last - 1] = marks[last - 1] or like[stop - 1].mark
    if marks and not like:
        marks[-1] = "."
    found: list[WrittenWord] = []
    for bare, form, mark in zip(words, forms, marks, strict=True):
        starts = not found or found[-1].ends_sentence
        cased = form if form is not None and not starts else _cased(form or bare, starts)
        found.append(WrittenWord(bare, cased + mark))
    return found


def _cased(word: str, starts_sentence: bool) -> str:
    if starts_sentence or word == "i" or word.startswith("i'"):
        return word[:1].upper() + word[1:]
    return word
