"""One unit per character."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.tokenizers.word_spans import WORD_START, WordSpan, WordSpans, spell


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
        return spell(self._texts(units))

    def word_spans(self, units: Sequence[int]) -> list[WordSpan]:
        """See Tokenizer; '▁' between words belongs to none."""
        words = WordSpans()
        for index, text in enumerate(self._texts(units)):
            if text == WORD_START:
                words.close()
            else:
                words.extend(text, index)
        return words.finish()

    def save(self, directory: Path) -> None:
        """Writes units.txt."""
        (directory / "units.txt").write_text(self.units.to_text(), encoding="utf-8")
