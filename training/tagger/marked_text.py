"""Texts with capitals and marks as arrays of words, made once and kept beside the run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from earshot.language.errors import UnsayableText
from earshot.language.marks.marked_words import Capital, Mark, MarkedWord, marked_words, titles_said
from earshot.language.text.spoken_text import spoken_text
from earshot.training.errors import CorpusError
from earshot.training.files.packed_text import open_text

_WHOLE = re.compile(r"""["'“‘(]?[A-Z].*[.!?]["'”’)]*$""")
"""A line that begins and ends as sentences do: headings and what has no marks teach nothing."""
_FIGURES = re.compile(r"[0-9$%&]")
_QUOTES = re.compile(r"[“”\"]")
LEAST_FORMS = 3
"""Words that are written in a form of their own less often have none."""
MOST_FORMS = 1000


@dataclass(frozen=True)
class MarkedText:
    """A text of N words. word: numbers of distinct words. begins: whether a line begins there."""

    word: npt.NDArray[np.int32]
    capital: npt.NDArray[np.int8]
    mark: npt.NDArray[np.int8]
    begins: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.word)


class MarkedTexts:
    """Texts over one list of distinct words, and the forms of words that have their own.

    Raises CorpusError for a text that cannot be read, or has no line with capitals and marks.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._number: dict[str, int] = {}
        self._forms: Counter[tuple[str, str]] = Counter()
        self.texts = [self._read(path) for path in paths]

    @property
    def words(self) -> list[str]:
        """The distinct words, by number."""
        return list(self._number)

    def vocabulary(self, shares: Sequence[float], count: int) -> list[str]:
        """The most frequent words, where each text counts by its share."""
        weights = np.zeros(len(self._number))
        for text, share in zip(self.texts, shares, strict=True):
            counts = np.bincount(text.word, minlength=len(weights))
            weights += share * counts / len(text)
        words = self.words
        best = np.argsort(-weights, kind="stable")[:count]
        return sorted(words[number] for number in best)

    def forms(self) -> dict[str, str]:
        """For each word that has forms of its own the most frequent one."""
        found: dict[str, str] = {}
        for (text, form), count in self._forms.most_common():
            if count >= LEAST_FORMS and len(found) < MOST_FORMS:
                found.setdefault(text, form)
        return found

    def _read(self, path: Path) -> MarkedText:
        columns: tuple[list[int], list[int], list[int], list[bool]] = ([], [], [], [])
        try:
            with open_text(path) as lines:
                for words in marked_lines(lines):
                    self._take(words, columns)
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise CorpusError(f"cannot read {path}: {error}") from error
        if not columns[0]:
            raise CorpusError(f"{path} has no line with capitals and marks")
        word, capital, mark, begins = columns
        return MarkedText(
            np.array(word, np.int32),
            np.array(capital, np.int8),
            np.array(mark, np.int8),
            np.array(begins, np.bool_),
        )

    def _take(
        self,
        words: Sequence[MarkedWord],
        columns: tuple[list[int], list[int], list[int], list[bool]],
    ) -> None:
        for place, each in enumerate(words):
            columns[0].append(self._number.setdefault(each.text, len(self._number)))
            columns[1].append(each.capital)
            columns[2].append(each.mark)
            columns[3].append(place == 0)
            if each.capital == Capital.OWN:
                self._forms[each.text, each.form] += 1


def marked_lines(lines: Iterable[str]) -> Iterator[list[MarkedWord]]:
    """The words of each line of whole sentences; those with figures as they are said, or not."""
    for line in lines:
        text = line.strip()
        if _FIGURES.search(text):
            try:
                text = _as_said(text)
            except UnsayableText:
                continue
        if _WHOLE.match(text):
            words = marked_words(text)
            if 2 * sum(word.capital == Capital.ALL for word in words) < len(words):
                yield _ended(words)


def _as_said(text: str) -> str:
    """The text without figures. Its letters said one by one (A. M.) have no full stops there."""
    said = spoken_text(titles_said(_QUOTES.sub("", text)))
    return re.sub(r"\b([A-Z])\.(?= [A-Za-z])", r"\1", said)


def _ended(words: list[MarkedWord]) -> list[MarkedWord]:
    """A line's last word has its mark, whatever follows it there."""
    last = words[-1]
    if last.mark in (Mark.NONE, Mark.COMMA, Mark.UNSURE):
        words[-1] = MarkedWord(last.text, last.form, last.capital, Mark.UNSURE)
    return words
