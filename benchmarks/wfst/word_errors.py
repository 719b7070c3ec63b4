"""Word error rates over recordings, and how sure they are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import jiwer

CONFIDENCE = 1.96  # of 95 percent


@dataclass(frozen=True)
class WordErrors:
    """Of each recording: words said, and words wrong, missing or too many."""

    said: Sequence[int]
    errors: Sequence[int]

    @classmethod
    def of(cls, truths: Sequence[str], texts: Sequence[str]) -> "WordErrors":
        """Of texts; each truth must have a word."""
        counts = [_errors(*pair) for pair in zip(truths, texts, strict=True)]
        return cls([len(truth.split()) for truth in truths], counts)

    @property
    def percent(self) -> float:
        """The word error rate."""
        return 100.0 * sum(self.errors) / sum(self.said)

    @property
    def margin(self) -> float:
        """Half of the interval of 95 percent, recordings being drawn independently."""
        rate = sum(self.errors) / sum(self.said)
        pairs = zip(self.errors, self.said, strict=True)
        spread = math.sqrt(sum((wrong - rate * said) ** 2 for wrong, said in pairs))
        return 100.0 * CONFIDENCE * spread / sum(self.said)

    def __str__(self) -> str:
        return f"{self.percent:.1f} ± {self.margin:.1f}"


def longest_run(texts: Sequence[str]) -> int:
    """How often one word follows itself at most."""
    runs = (len(list(same)) for text in texts for _, same in groupby(text.split()))
    return max(runs, default=0)


def repeats(text: str, longest: int = 12) -> list[str]:
    """Words, and phrases of up to `longest`, that are said twice in a row, each time."""
    words = text.split()
    return [
        " ".join(words[at : at + size])
        for size in range(1, longest + 1)
        for at in range(len(words) - 2 * size + 1)
        if words[at : at + size] == words[at + size : at + 2 * size]
    ]


def _errors(truth: str, text: str) -> int:
    found = jiwer.process_words(truth, text)
    return found.substitutions + found.deletions + found.insertions
