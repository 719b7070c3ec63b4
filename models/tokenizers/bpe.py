"""WeNet's mixed tables: sentencepiece units, and CJK characters that stand alone."""

from __future__ import annotations

from pathlib import Path

import sentencepiece

from earshot.models.errors import TokenizerError
from earshot.models.tokenizers.pieces import PieceTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.tokenizers.word_spans import CJK


class BpeTokenizer(PieceTokenizer):
    """SentencePiece (BPE or unigram) units: tokens from its model, ids from units.txt.

    CJK characters stand alone, as in WeNet's mixed tables; the rest goes through sentencepiece.
    """

    def __init__(self, model_path: Path, units: UnitTable | Path) -> None:
        super().__init__(units if isinstance(units, UnitTable) else UnitTable.read(units))
        self._model = read_sentencepiece(_read_file(model_path), str(model_path))

    @property
    def proto(self) -> bytes:
        """Sentencepiece's model, as in its file."""
        found: bytes = self._model.serialized_model_proto()
        return found

    def split(self, text: str) -> list[str]:
        """Sentencepiece's segmentation, CJK characters split off first."""
        tokens: list[str] = []
        for part in CJK.split(text):
            if CJK.fullmatch(part):
                tokens.append(part)
            elif part.strip():
                tokens.extend(self._model.encode_as_pieces(part.strip()))
        return tokens

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
        raise TokenizerError(f"cannot read the sentencepiece model {source}: {error}") from error


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TokenizerError(f"cannot read the sentencepiece model {path}: {error}") from error
