"""Sentencepiece alone: its pieces are a model's units, by its own ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from earshot.models.tokenizers.bpe import read_sentencepiece
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.tokenizers.word_spans import WordSpan, spans_of_pieces, spell

MARK = re.compile(r"<[^<>]+>")
"""Pieces of this form are no text: "<unk>", "<|en|>", "<EOU>"."""


class SentencePieceTokenizer(Tokenizer):
    """Units of a sentencepiece model, as NeMo uses them.

    Its unknown and control pieces have no text, nor what is written between angles. Bytes, which
    some models fall back to, are put together again.
    """

    def __init__(self, proto: bytes, source: str) -> None:
        """`source` names the model in errors. Raises TokenizerError."""
        self._model = read_sentencepiece(proto, source)
        pieces = [self._model.id_to_piece(unit) for unit in range(len(self._model))]
        special = {piece for unit, piece in enumerate(pieces) if self._is_special(unit, piece)}
        super().__init__(UnitTable.of(pieces, source), special)
        self._bytes = {
            unit: int(piece[1:-1], 16)
            for unit, piece in enumerate(pieces)
            if self._model.is_byte(unit)
        }

    def split(self, text: str) -> list[str]:
        """Sentencepiece's segmentation."""
        pieces: list[str] = self._model.encode_as_pieces(text)
        return pieces

    def decode(self, units: Sequence[int]) -> str:
        """Pieces joined, '▁' as a space, no space at the ends."""
        return spell(self._texts(units))

    def word_spans(self, units: Sequence[int]) -> list[WordSpan]:
        """See Tokenizer; a piece that starts with '▁' starts a word."""
        return spans_of_pieces(self._texts(units))

    def save(self, directory: Path) -> None:
        """Writes units.txt and bpe.model."""
        (directory / "units.txt").write_text(self.units.to_text(), encoding="utf-8")
        (directory / "bpe.model").write_bytes(self._model.serialized_model_proto())

    def _is_special(self, unit: int, piece: str) -> bool:
        if self._model.is_byte(unit):
            return False
        silent = self._model.is_unknown(unit) or self._model.is_control(unit)
        return silent or MARK.fullmatch(piece) is not None

    def _texts(self, units: Sequence[int]) -> list[str]:
        """Each piece's text; of bytes that follow one another, at the first."""
        texts = super()._texts(units)
        first, run = 0, bytearray()
        for index, unit in enumerate([*units, -1]):
            if unit in self._bytes:
                first = index if not run else first
                run.append(self._bytes[unit])
                texts[index] = ""
            elif run:
                texts[first] = run.decode("utf-8", "replace")
                run.clear()
        return texts
