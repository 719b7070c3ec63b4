"""Tokenizers of several languages side by side, whose units follow one another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from earshot.models.errors import TokenizerError, UnencodableText
from earshot.models.tokenizers.pieces import PieceTokenizer, is_mark
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import UnitTable


class AggregateTokenizer(PieceTokenizer):
    """Units of the first language's tokenizer, then of the second's, and so on.

    A symbol may stand in more than one; its id in `units` is the first. parts: of sentencepiece.
    """

    def __init__(self, parts: Sequence[Tokenizer]) -> None:
        """Raises TokenizerError where there is no part."""
        if not parts:
            raise TokenizerError("a tokenizer of several languages has none")
        symbols = [symbol for part in parts for symbol in part.units.symbols]
        ids: dict[str, int] = {}
        for unit, symbol in enumerate(symbols):
            ids.setdefault(symbol, unit)
        super().__init__(UnitTable(symbols, ids), set(filter(is_mark, symbols)))
        self._parts = parts

    def encode(self, text: str) -> list[int]:
        """Units of the first language that can write it. Raises UnencodableText where none can."""
        before = 0
        refusals = []
        for part in self._parts:
            try:
                return [before + unit for unit in part.encode(text)]
            except UnencodableText as error:
                refusals.append(error)
            before += part.vocab_size
        raise refusals[0]

    def split(self, text: str) -> list[str]:
        """The tokens of `encode`, or else the first language's."""
        try:
            return [self.token(unit) for unit in self.encode(text)]
        except UnencodableText:
            return self._parts[0].split(text)

    def save(self, directory: Path) -> None:
        """Raises TokenizerError: a units table has no room for a symbol of two languages."""
        raise TokenizerError("a tokenizer of several languages cannot be written")
