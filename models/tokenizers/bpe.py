"""WeNet's mixed tables: sentencepiece units, and CJK characters that stand alone."""

from __future__ import annotations

from pathlib import Path

from earshot.models.errors import TokenizerError
from earshot.models.tokenizers.modelled_pieces import ModelledPieces, read_sentencepiece
from earshot.models.tokenizers.units import UnitTable
from earshot.models.tokenizers.word_spans import CJK


class BpeTokenizer(ModelledPieces):
    """SentencePiece (BPE or unigram) units: tokens from its model, ids from units.txt.

    CJK characters stand alone, as in WeNet's mixed tables; the rest goes through sentencepiece.
    """

    def __init__(self, model_path: Path, units: UnitTable | Path) -> None:
        table = units if isinstance(units, UnitTable) else UnitTable.read(units)
        super().__init__(read_sentencepiece(_read_file(model_path), str(model_path)), table)

    def split(self, text: str) -> list[str]:
        """Sentencepiece's segmentation, CJK characters split off first."""
        tokens: list[str] = []
        for part in CJK.split(text):
            if CJK.fullmatch(part):
                tokens.append(part)
            elif part.strip():
                tokens.extend(self._model.encode_as_pieces(part.strip()))
        return tokens


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TokenizerError(f"cannot read the sentencepiece model {path}: {error}") from error
