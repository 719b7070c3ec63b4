"""Units of a `tokenizer.json`, as the library `tokenizers` writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from tokenizers import Tokenizer as Segmenter

from earshot.models.errors import TokenizerError
from earshot.models.tokenizers.sentencepiece import MARK
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import MAX_TABLE_BYTES, UnitTable
from earshot.models.tokenizers.word_spans import WORD_START, WordSpan, spans_of_pieces, spell

BYTE = re.compile(r"<0x([0-9A-F]{2})>")
OTHER_DECODERS = {"ByteLevel", "WordPiece", "BPEDecoder", "CTC"}
"""Decoders of pieces that are written otherwise than sentencepiece's."""


class HuggingFaceTokenizer(Tokenizer):
    """Pieces in which '▁' begins a word, as sentencepiece's do.

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
        special |= {symbol for symbol in symbols if _is_mark(symbol)}
        super().__init__(UnitTable.of(symbols, source), special)
        self._segmenter = segmenter
        self._bytes = {unit: int(byte[1], 16) for unit, byte in _bytes_among(symbols)}

    def split(self, text: str) -> list[str]:
        """The library's segmentation, without the tokens that it would put around a text."""
        return list(self._segmenter.encode(text, add_special_tokens=False).tokens)

    def decode(self, units: Sequence[int]) -> str:
        """Pieces joined, '▁' as a space, no space at the ends."""
        return spell(self._texts(units))

    def word_spans(self, units: Sequence[int]) -> list[WordSpan]:
        """See Tokenizer; a piece that starts with '▁' starts a word."""
        return spans_of_pieces(self._texts(units))

    def save(self, directory: Path) -> None:
        """Writes tokenizer.json."""
        self._segmenter.save(str(directory / "tokenizer.json"))

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


def _is_mark(symbol: str) -> bool:
    return MARK.fullmatch(symbol) is not None and BYTE.fullmatch(symbol) is None


def _bytes_among(symbols: Sequence[str]) -> list[tuple[int, re.Match[str]]]:
    matches = ((unit, BYTE.fullmatch(symbol)) for unit, symbol in enumerate(symbols))
    return [(unit, match) for unit, match in matches if match]


def read_hugging_face_tokenizer(path: Path, labels: int) -> HuggingFaceTokenizer:
    """The tokenizer in a file, for a network of so many labels.

    Raises TokenizerError for a file that is missing, huge or no tokenizer, and for one whose
    pieces are not written as sentencepiece's.
    """
    try:
        if path.stat().st_size > MAX_TABLE_BYTES:
            raise TokenizerError(f"{path} is too large to be a tokenizer")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TokenizerError(f"cannot read the tokenizer {path}: {error}") from error
    return HuggingFaceTokenizer(_parse(text, path), labels, str(path))


def _parse(text: str, path: Path) -> Segmenter:
    try:
        segmenter = Segmenter.from_str(text)
    except Exception as error:  # the library raises nothing narrower
        raise TokenizerError(f"cannot read the tokenizer {path}: {error}") from error
    decoder = json.loads(text).get("decoder") or {}
    for part in decoder.get("decoders", [decoder]):
        if part.get("type") in OTHER_DECODERS or part.get("replacement", WORD_START) != WORD_START:
            raise TokenizerError(f"{path} does not write words as pieces that begin with '▁'")
    # Both are for batches, and would cut or lengthen a text that stands alone.
    segmenter.no_truncation()
    segmenter.no_padding()
    return segmenter
