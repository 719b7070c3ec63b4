"""Units of a `tokenizer.json`, as the library `tokenizers` writes it."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import Tokenizer as Segmenter

from earshot.models.errors import TokenizerError
from earshot.models.plain_text import read_plain_text
from earshot.models.tokenizers.charsmap import check_charsmaps
from earshot.models.tokenizers.pieces import PieceTokenizer, is_mark
from earshot.models.tokenizers.units import MAX_TABLE_BYTES, UnitTable
from earshot.models.tokenizers.word_spans import WORD_START

OTHER_DECODERS = {"ByteLevel", "WordPiece", "BPEDecoder", "CTC"}
"""Decoders of pieces that are written otherwise than sentencepiece's."""


class HuggingFaceTokenizer(PieceTokenizer):
    """Pieces of the library's segmentation.

    The first `labels` ids are a network's labels; what follows, its blank and padding, is not
    among the units. Added special tokens have no text, and neither do tags such as <unk>, <EOU>
    and <en-US>; pieces such as <0xE2> are bytes of letters that are no pieces. Raises
    TokenizerError for a label that the file does not list.
    """

    def __init__(self, segmenter: Segmenter, labels: int, source: str) -> None:
        by_id = {unit: symbol for symbol, unit in segmenter.get_vocab().items()}
        missing = [unit for unit in range(labels) if unit not in by_id]
        if missing:
            raise TokenizerError(f"{source} has none of {labels} units with id {missing[0]}")
        symbols = [by_id[unit] for unit in range(labels)]
        added = segmenter.get_added_tokens_decoder().values()
        special = {token.content for token in added if token.special}
        special |= {symbol for symbol in symbols if is_mark(symbol)}
        super().__init__(UnitTable.of(symbols, source), special)
        self._segmenter = segmenter

    def split(self, text: str) -> list[str]:
        """The library's segmentation, without the tokens that it would put around a text."""
        return list(self._segmenter.encode(text, add_special_tokens=False).tokens)

    def save(self, directory: Path) -> None:
        """Writes tokenizer.json."""
        self._segmenter.save(str(directory / "tokenizer.json"))


def read_hugging_face_tokenizer(path: Path, labels: int) -> HuggingFaceTokenizer:
    """The tokenizer in a file, for a network of so many labels.

    Raises TokenizerError for a file that is missing, huge or no tokenizer, and for one whose
    pieces are not written as sentencepiece's.
    """
    try:
        text = read_plain_text(path, MAX_TABLE_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise TokenizerError(f"cannot read the tokenizer {path}: {error}") from error
    return HuggingFaceTokenizer(_parse(text, path), labels, str(path))


def _parse(text: str, path: Path) -> Segmenter:
    try:
        content = json.loads(text)
        check_charsmaps(content)
        segmenter = Segmenter.from_str(text)
    except Exception as error:  # the library raises nothing narrower
        raise TokenizerError(f"cannot read the tokenizer {path}: {error}") from error
    decoder = content.get("decoder") or {}
    for part in decoder.get("decoders", [decoder]):
        if part.get("type") in OTHER_DECODERS or part.get("replacement", WORD_START) != WORD_START:
            raise TokenizerError(f"{path} does not write words as pieces that begin with '▁'")
    # Both are for batches, and would cut or lengthen a text that stands alone.
    segmenter.no_truncation()
    segmenter.no_padding()
    return segmenter
