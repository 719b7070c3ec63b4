"""Numbers in English words, as text2num reads them."""

from collections.abc import Sequence
from dataclasses import dataclass

from text_to_num import Occurence, find_numbers

SCALES = frozenset(("million", "billion", "trillion"))
"""Never part of a number here: "1.5 million" is easier to read than 1500000."""

PLURALS = frozenset((
    "ones", "twos", "threes", "fours", "fives", "sixes", "sevens", "eights", "nines", "niners",
    "tens", "elevens", "twelves", "teens", "twenties", "thirties", "forties", "fifties", "sixties",
    "seventies", "eighties", "nineties", "hundreds", "thousands", "millions", "billions",
    "trillions", "halves", "thirds", "fourths", "fifths", "sixths", "sevenths", "eighths",
    "ninths", "tenths", "twelfths", "sixteenths", "hundredths", "thousandths",
))  # fmt: skip
"""With the number before them one thing: a decade, a century, a fraction, the forty niners."""


@dataclass(frozen=True)
class Run:
    """Numbers that follow each other without a word between them.

    An ordinal ends a run: "the first twenty", "may fifth nineteen ninety eight".
    """

    numbers: tuple[Occurence, ...]

    @property
    def first(self) -> int:
        """Index of the first word."""
        return int(self.numbers[0].start)

    @property
    def stop(self) -> int:
        """Index after the last word."""
        return int(self.numbers[-1].end)


def number_runs(words: Sequence[str]) -> list[Run]:
    """All numbers in lower-case ``words``, in order; an empty word is part of none."""
    return _runs(_with_zeros(words) if "oh" in words else words)


def _with_zeros(words: Sequence[str]) -> list[str]:
    """An "oh" behind a number is text2num's "o", a zero; before one it may be a cry."""
    read = list(words)
    ends = {run.stop for run in _runs(words) if not run.numbers[-1].is_ordinal}
    for index, word in enumerate(words):
        before = index - 1 if index and words[index - 1] == "point" else index
        if word == "oh" and before in ends:
            read[index] = "o"
            ends.add(index + 1)
    return read


def _runs(words: Sequence[str]) -> list[Run]:
    runs: list[Run] = []
    for number in find_numbers([_Token(word) for word in words], "en", threshold=0.0):
        previous = runs[-1].numbers[-1] if runs else None
        if previous is None or previous.is_ordinal or number.start != previous.end:
            runs.append(Run((number,)))
        else:
            runs[-1] = Run((*runs[-1].numbers, number))
    return runs


@dataclass(frozen=True)
class _Token:
    """A word in text2num's form."""

    word: str

    def text(self) -> str:
        return self.word or "_"  # text2num reads on behind an empty text

    def nt_separated(self, previous: "_Token") -> bool:
        return False

    def not_a_number_part(self) -> bool:
        """Plurals ("the fifties", "two thirds") are no numbers either."""
        return not self.word or self.word.endswith("s") or self.word in SCALES
