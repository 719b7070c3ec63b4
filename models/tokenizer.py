"""Between text and the model's output units."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import sentencepiece

from earshot.models.errors import TokenizerError, UnencodableText
from earshot.models.units import SPECIAL_SYMBOLS, UnitTable

WORD_START = "\u2581"  # '▁', sentencepiece's mark for a space
CJK = re.compile("([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")

WordSpan = tuple[str, int, int]
TokenizerKind = Literal["char", "bpe"]


class Tokenizer(ABC):
    """Units of one model. Special units (<blank>, <unk>, <sos/eos> …) have no text."""

    def __init__(self, units: UnitTable) -> None:
        self.units = units
        self._silent = frozenset(
            unit for unit, symbol in enumerate(units.symbols) if symbol in SPECIAL_SYMBOLS
        )

    @property
    def vocab_size(self) -> int:
        """Number of units, special ones included."""
        return len(self.units)

    @property
    def separator(self) -> int | None:
        """The unit that is written between words, if there is one."""
        return None

    def token(self, unit: int) -> str:
        """The unit's symbol as the table has it."""
        return self.units.symbols[unit]

    def encode(self, text: str) -> list[int]:
        """Units of `text` as it is, or else in upper or in lower case.

        Raises UnencodableText, naming the text, if it is empty or has a symbol without a unit.
        """
        if not text.strip():
            raise UnencodableText(text, "there is nothing in it")
        unknown: list[str] = []
        for spelling in dict.fromkeys((text, text.upper(), text.lower())):
            tokens = self.split(spelling)
            missing = [token for token in tokens if not self._is_text(token)]
            if not missing:
                return [self.units.ids[token] for token in tokens]
            unknown = unknown or missing
        raise UnencodableText(text, f"the model has no unit for {', '.join(map(repr, unknown))}")

    @abstractmethod
    def split(self, text: str) -> list[str]:
        """The tokens that `text` falls into, known to the model or not."""

    @abstractmethod
    def decode(self, units: Sequence[int]) -> str:
        """Text of a sequence of units; special units leave nothing."""

    @abstractmethod
    def word_spans(self, units: Sequence[int]) -> list[WordSpan]:
        """Words of `decode(units)` as (text, index of the first unit, index after the last one).

        A word is what spaces separate; of text written without spaces, every CJK character.
        """

    @abstractmethod
    def save(self, directory: Path) -> None:
        """Writes the files that `load_tokenizer` needs."""

    def _is_text(self, token: str) -> bool:
        unit = self.units.ids.get(token)
        return unit is not None and unit not in self._silent

    def _texts(self, units: Sequence[int]) -> list[str]:
        """Each unit's symbol, empty for special ones."""
        return ["" if unit in self._silent else self.units.symbols[unit] for unit in units]


class CharTokenizer(Tokenizer):
    """One unit per character; a space is '▁' where the table has it, and otherwise not written."""

    def __init__(self, units: UnitTable | Path) -> None:
        super().__init__(units if isinstance(units, UnitTable) else UnitTable.read(units))

    @property
    def separator(self) -> int | None:
        """That of '▁'."""
        return self.units.ids.get(WORD_START)

    def split(self, text: str) -> list[str]:
        """Characters, each run of spaces as one '▁'."""
        space = WORD_START if WORD_START in self.units.ids else ""
        return list(space.join(text.split()))

    def decode(self, units: Sequence[int]) -> str:
        """Characters joined, '▁' as a space."""
        return _spell(self._texts(units))

    def word_spans(self, units: Sequence[int]) -> list[WordSpan]:
        """See Tokenizer; '▁' between words belongs to none."""
        words = _Words()
        for index, text in enumerate(self._texts(units)):
            if text == WORD_START:
                words.close()
            else:
                words.extend(text, index)
        return words.finish()

    def save(self, directory: Path) -> None:
        """Writes units.txt."""
        (directory / "units.txt").write_text(self.units.to_text(), encoding="utf-8")


class BpeTokenizer(Tokenizer):
    """SentencePiece (BPE or unigram) units: tokens from its model, ids from units.txt.

    CJK characters stand alone, as in WeNet's mixed tables; the rest goes through sentencepiece.
    """

    def __init__(self, model_path: Path, units: UnitTable | Path) -> None:
        super().__init__(units if isinstance(units, UnitTable) else UnitTable.read(units))
        self._model = _read_sentencepiece(model_path)

    def split(self, text: str) -> list[str]:
        """Sentencepiece's segmentation, CJK characters split off first."""
        tokens: list[str] = []
        for part in CJK.split(text):
            if CJK.fullmatch(part):
                tokens.append(part)
            elif part.strip():
                tokens.extend(self._model.encode_as_pieces(part.strip()))
        return tokens

    def decode(self, units: Sequence[int]) -> str:
        """Tokens joined, '▁' as a space, no space at the ends."""
        return _spell(self._texts(units))

    def word_spans(self, units: Sequence[int]) -> list[WordSpan]:
        """See Tokenizer; a token that starts with '▁' starts a word."""
        words = _Words()
        for index, text in enumerate(self._texts(units)):
            if text.startswith(WORD_START):
                words.close()
            # '▁' within a token, which sentencepiece may be trained to make, is a space too.
            words.extend(text.lstrip(WORD_START).replace(WORD_START, " "), index)
        return words.finish()

    def save(self, directory: Path) -> None:
        """Writes units.txt and bpe.model."""
        (directory / "units.txt").write_text(self.units.to_text(), encoding="utf-8")
        (directory / "bpe.model").write_bytes(self._model.serialized_model_proto())


class _Words:
    """Collects word spans from the units' texts in order."""

    def __init__(self) -> None:
        self._spans: list[WordSpan] = []
        self._text, self._first, self._stop = "", 0, 0

    def extend(self, text: str, index: int) -> None:
        """Unit `index` continues the open word with `text`, or begins one."""
        if CJK.fullmatch(text) or CJK.fullmatch(self._text):
            self.close()
        if not self._text:
            self._first = index
        if text:
            self._text, self._stop = self._text + text, index + 1

    def close(self) -> None:
        """The open word, if there is one, is complete."""
        if self._text:
            self._spans.append((self._text, self._first, self._stop))
        self._text = ""

    def finish(self) -> list[WordSpan]:
        self.close()
        return self._spans


def _spell(texts: Sequence[str]) -> str:
    return " ".join("".join(texts).replace(WORD_START, " ").split())


def _read_sentencepiece(path: Path) -> sentencepiece.SentencePieceProcessor:
    try:
        proto = path.read_bytes()
        if not proto:  # sentencepiece takes that for "no model yet"
            raise TokenizerError(f"the sentencepiece model {path} is empty")
        return sentencepiece.SentencePieceProcessor(model_proto=proto)
    except (OSError, RuntimeError) as error:
        raise TokenizerError(f"cannot read the sentencepiece model {path}: {error}") from error


def load_tokenizer(
    directory: Path, units_name: str = "units.txt", kind: TokenizerKind | None = None
) -> Tokenizer:
    """The tokenizer of a model directory; without a `kind`, BPE if it holds a sentencepiece model.

    Raises TokenizerError.
    """
    units = UnitTable.read(directory / units_name)
    models = sorted(directory.glob("*.model"))
    if kind == "char" or (kind is None and not models):
        return CharTokenizer(units)
    if len(models) != 1:
        names = ", ".join(path.name for path in models) or "none"
        raise TokenizerError(f"{directory} should hold one sentencepiece model; it holds {names}")
    return BpeTokenizer(models[0], units)
