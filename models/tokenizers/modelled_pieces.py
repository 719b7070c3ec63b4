"""Pieces that a sentencepiece model segments texts into."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

import sentencepiece

from earshot.models.errors import TokenizerError
from earshot.models.tokenizers.pieces import PieceTokenizer
from earshot.models.tokenizers.units import SPECIAL_SYMBOLS, UnitTable


class ModelledPieces(PieceTokenizer):
    """Pieces with the model that finds them in texts; whose ids they have is the tokenizer's."""

    def __init__(
        self,
        model: sentencepiece.SentencePieceProcessor,
        units: UnitTable,
        special: Container[str] = SPECIAL_SYMBOLS,
    ) -> None:
        super().__init__(units, special)
        self._model = model

    @property
    def proto(self) -> bytes:
        """Sentencepiece's model, as in its file."""
        found: bytes = self._model.serialized_model_proto()
        return found

    def save(self, directory: Path) -> None:
        """Writes units.txt and bpe.model."""
        (directory / "units.txt").write_text(self.units.to_text(), encoding="utf-8")
        (directory / "bpe.model").write_bytes(self.proto)


def read_sentencepiece(proto: bytes, source: str) -> sentencepiece.SentencePieceProcessor:
    """The model in a file's bytes; `source` names it in errors. Raises TokenizerError."""
    if not proto:  # sentencepiece takes that for "no model yet"
        raise TokenizerError(f"the sentencepiece model {source} is empty")
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=proto)
    except RuntimeError as error:
        raise TokenizerError(f"{source} is a damaged sentencepiece model, or none") from error
