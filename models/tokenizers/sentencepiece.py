"""Sentencepiece alone: its pieces are a model's units, by its own ids."""

from __future__ import annotations

from pathlib import Path

from earshot.models.tokenizers.bpe import read_sentencepiece
from earshot.models.tokenizers.pieces import PieceTokenizer, is_mark
from earshot.models.tokenizers.units import UnitTable


class SentencePieceTokenizer(PieceTokenizer):
    """Units of a sentencepiece model, as NeMo uses them.

    Its unknown and control pieces have no text, nor what is written between angles.
    """

    def __init__(self, proto: bytes, source: str) -> None:
        """`source` names the model in errors. Raises TokenizerError."""
        self._model = read_sentencepiece(proto, source)
        pieces = [self._model.id_to_piece(unit) for unit in range(len(self._model))]
        special = {piece for unit, piece in enumerate(pieces) if self._is_special(unit, piece)}
        super().__init__(UnitTable.of(pieces, source), special)

    @property
    def proto(self) -> bytes:
        """Sentencepiece's model, as in its file."""
        found: bytes = self._model.serialized_model_proto()
        return found

    def split(self, text: str) -> list[str]:
        """Sentencepiece's segmentation."""
        pieces: list[str] = self._model.encode_as_pieces(text)
        return pieces

    def save(self, directory: Path) -> None:
        """Writes units.txt and bpe.model."""
        (directory / "units.txt").write_text(self.units.to_text(), encoding="utf-8")
        (directory / "bpe.model").write_bytes(self.proto)

    def _is_special(self, unit: int, piece: str) -> bool:
        silent = self._model.is_unknown(unit) or self._model.is_control(unit)
        return silent or is_mark(piece)
