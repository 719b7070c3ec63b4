"""Sentencepiece alone: its pieces are a model's units, by its own ids."""

from __future__ import annotations

from earshot.models.tokenizers.modelled_pieces import ModelledPieces, read_sentencepiece
from earshot.models.tokenizers.pieces import is_mark
from earshot.models.tokenizers.units import UnitTable


class SentencePieceTokenizer(ModelledPieces):
    """Units of a sentencepiece model, as NeMo uses them.

    Its unknown and control pieces have no text, nor what is written between angles.
    """

    def __init__(self, proto: bytes, source: str) -> None:
        """`source` names the model in errors. Raises TokenizerError."""
        model = read_sentencepiece(proto, source)
        pieces = [model.id_to_piece(unit) for unit in range(len(model))]
        silent = {
            piece
            for unit, piece in enumerate(pieces)
            if model.is_unknown(unit) or model.is_control(unit) or is_mark(piece)
        }
        super().__init__(model, UnitTable.of(pieces, source), silent)

    def split(self, text: str) -> list[str]:
        """Sentencepiece's segmentation."""
        pieces: list[str] = self._model.encode_as_pieces(text)
        return pieces
