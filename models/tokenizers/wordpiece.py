"""Wordpieces, as BERT has them: "##" continues a word, everything else begins one.

Source: Devlin 2018, and the tokenizer published with it: text falls at spaces, before and after
every punctuation mark and CJK character; each part is then the longest pieces that spell it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.tokenizers.word_spans import CJK, WordSpan, WordSpans

CONTINUED = "##"
MARK = re.compile(r"\[[^\[\]]+\]|<[^<>]+>")
"""Pieces of this form are no text: "[UNK]", "[CLS]", "<pad>"."""

LONGEST_WORD = 100
"""Characters; a longer one is unknown."""


class WordpieceTokenizer(Tokenizer):
    """Units of a table of wordpieces; `source` names it in errors. Raises TokenizerError."""

    def __init__(self, pieces: Sequence[str], source: str) -> None:
        special = {piece for piece in pieces if MARK.fullmatch(piece)}
        super().__init__(UnitTable.of(pieces, source), special)

    def split(self, text: str) -> list[str]:
        """The longest pieces from the left; of a word that has none, the word."""
        return [piece for word in _words(text) for piece in self._pieces(word)]

    def decode(self, units: Sequence[int]) -> str:
        """Words with spaces between, and none before a punctuation mark."""
        return " ".join(word for word, _, _ in self.word_spans(units))

    def word_spans(self, units: Sequence[int]) -> list[WordSpan]:
        """See Tokenizer; a punctuation mark belongs to the word before it."""
        words = WordSpans()
        for index, text in enumerate(self._texts(units)):
            if not text.startswith(CONTINUED) and not (text and _is_mark(text[0])):
                words.close()
            words.extend(text.removeprefix(CONTINUED), index)
        return words.finish()

    def save(self, directory: Path) -> None:
        """Writes units.txt."""
        (directory / "units.txt").write_text(self.units.to_text(), encoding="utf-8")

    def _pieces(self, word: str) -> list[str]:
        pieces: list[str] = []
        start = 0
        while start < len(word) <= LONGEST_WORD:
            prefix = CONTINUED if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self.units.ids), None)
            if end is None:
                return [word]
            pieces.append(prefix + word[start:end])
            start = end
        return pieces or [word]


def _words(text: str) -> Iterator[str]:
    for part in CJK.sub(r" \1 ", text).split():
        word = ""
        for character in part:
            if not _is_mark(character):
                word += character
                continue
            if word:
                yield word
            word = ""
            yield character
        if word:
            yield word


def _is_mark(character: str) -> bool:
    """Whether BERT takes a character for punctuation: Unicode's, and ASCII's symbols."""
    ascii_symbol = character.isascii() and character.isprintable() and not character.isalnum()
    return (ascii_symbol and character != " ") or unicodedata.category(character).startswith("P")
