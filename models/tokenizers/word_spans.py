"""Words and spelling of a sequence of units' texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD_START = "\u2581"  # '▁', sentencepiece's mark for a space
CJK = re.compile("([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")

WordSpan = tuple[str, int, int]


class WordSpans:
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
        """All words; the open one, if there is one, is complete."""
        self.close()
        return self._spans


def spell(texts: Sequence[str]) -> str:
    """Texts joined, '▁' as a space, no space at the ends."""
    return " ".join("".join(texts).replace(WORD_START, " ").split())
