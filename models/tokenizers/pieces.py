"""Pieces in which '▁' begins a word, whoever segments texts into them."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from itertools import groupby

from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import SPECIAL_SYMBOLS, UnitTable
from earshot.models.tokenizers.word_spans import WORD_START, WordSpan, WordSpans, spell

MARK = re.compile(r"<[^<>]+>")
"""Pieces of this form are no text: "<unk>", "<|en|>", "<EOU>"."""

BYTE = re.compile(r"<0x([0-9A-F]{2})>")
"""The marks that are: a byte of a letter that is no piece, as sentencepiece writes it."""


class PieceTokenizer(Tokenizer):
    """Units whose texts are sentencepiece's pieces; bytes are put together again."""

    def __init__(self, units: UnitTable, special: Container[str] = SPECIAL_SYMBOLS) -> None:
        super().__init__(units, special)
        matches = enumerate(map(BYTE.fullmatch, units.symbols))
        self._bytes = {unit: int(match[1], 16) for unit, match in matches if match}

    def decode(self, units: Sequence[int]) -> str:
        """Pieces joined, '▁' as a space, no space at the ends."""
        return spell(self._texts(units))

    def word_spans(self, units: Sequence[int]) -> list[WordSpan]:
        """See Tokenizer; a piece that starts with '▁' starts a word."""
        words = WordSpans()
        for index, text in enumerate(self._texts(units)):
            if text.startswith(WORD_START):
                words.close()
            # '▁' within a piece, which sentencepiece may be trained to make, is a space too.
            words.extend(text.lstrip(WORD_START).replace(WORD_START, " "), index)
        return words.finish()

    def _texts(self, units: Sequence[int]) -> list[str]:
        """Each unit's text; of bytes in a row, the first unit's is all of them."""
        texts: list[str] = []
        for are_bytes, run in groupby(units, self._bytes.__contains__):
            found = list(run)
            if are_bytes:
                letters = bytes(self._bytes[unit] for unit in found).decode(errors="replace")
                texts += [letters, *[""] * (len(found) - 1)]
            else:
                texts += super()._texts(found)
        return texts


def is_mark(piece: str) -> bool:
    """Whether a piece stands for something other than text."""
    return MARK.fullmatch(piece) is not None and BYTE.fullmatch(piece) is None
