"""Between text and the model's output units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Sequence
from functools import cached_property
from pathlib import Path

from earshot.models.errors import UnencodableText
from earshot.models.tokenizers.units import SPECIAL_SYMBOLS, UnitTable
from earshot.models.tokenizers.word_spans import WordSpan


class Tokenizer(ABC):
    """Units of one model. Those whose symbols are `special` (<blank>, <unk> …) have no text.

    silent_units: the ids of these.
    """

    def __init__(self, units: UnitTable, special: Container[str] = SPECIAL_SYMBOLS) -> None:
        self.units = units
        self.silent_units = frozenset(
            unit for unit, symbol in enumerate(units.symbols) if symbol in special
        )

    @property
    def vocab_size(self) -> int:
        """Number of units, special ones included."""
        return len(self.units)

    @cached_property
    def is_cased(self) -> bool:
        """Whether a letter has units in both cases; bytes (`<0xA1>`) are no letters."""
        plain = (text for text in filter(self._is_text, self.units.symbols) if text[0] != "<")
        letters = set("".join(plain))
        return any(letter != (small := letter.lower()) and small in letters for letter in letters)

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
            if not tokens:
                raise UnencodableText(text, "there is nothing in it")
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
        return unit is not None and unit not in self.silent_units

    def _texts(self, units: Sequence[int]) -> list[str]:
        """Each unit's symbol, empty for special ones."""
        return ["" if unit in self.silent_units else self.units.symbols[unit] for unit in units]
