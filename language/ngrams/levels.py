"""N-grams of all orders as flat arrays, each order hung on the one below.

An n-gram is a row of its *level*: the row below of all its words but the last (its *context*), its
last word, and the row below of all its words but the first (its *suffix*). Level 0 has one row, the
empty n-gram.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MISSING = -1
FOUND_TOGETHER = 1 << 24
"""N-grams looked for at a time: what that takes is half a gigabyte."""


@dataclass(frozen=True, eq=False)
class Level:
    """The n-grams (N,) of one order, sorted by context and last word."""

    vocab_size: int
    contexts: Ints
    words: Ints
    suffixes: Ints

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def keys(self) -> Longs:
        """(N,), rising."""
        return keys_of(self.contexts, self.words, self.vocab_size)

    def find(self, contexts: Ints, words: Ints) -> Ints:
        """The rows (M,) of n-grams; MISSING for those that are not there, or have no context."""
        rows = np.full(len(words), MISSING, np.int32)
        for start in range(0, len(words) if len(self) else 0, FOUND_TOGETHER):
            part = slice(start, start + FOUND_TOGETHER)
            rows[part] = self._find(contexts[part], words[part])
        return rows

    def _find(self, contexts: Ints, words: Ints) -> Ints:
        wanted = keys_of(contexts, words, self.vocab_size)
        # In order: neighbours are found in neighbouring memory, in an eighth of the time.
        order = np.argsort(wanted)
        rows = np.empty(len(wanted), np.int32)
        rows[order] = np.minimum(np.searchsorted(self.keys, wanted[order]), len(self) - 1)
        there = (contexts >= 0) & (words >= 0) & (self.keys[rows] == wanted)
        return np.where(there, rows, MISSING).astype(np.int32)

    def only(self, kept: Mask, below: Ints) -> "Level":
        """The rows that are kept; ``below`` has the new numbers of the rows of the level below."""
        return Level(
            self.vocab_size,
            below[self.contexts[kept]],
            self.words[kept],
            below[self.suffixes[kept]],
        )


def keys_of(contexts: Ints, words: Ints, vocab_size: int) -> Longs:
    """One number for context and word, in the order of both."""
    keys: Longs = contexts.astype(np.int64) * vocab_size + words
    return keys


def root(vocab_size: int) -> Level:
    """Level 0."""
    nothing = np.zeros(1, np.int32)
    return Level(vocab_size, nothing, nothing, nothing)


def all_words(vocab_size: int) -> Level:
    """Level 1: every word, seen or not."""
    zeros = np.zeros(vocab_size, np.int32)
    return Level(vocab_size, zeros, np.arange(vocab_size, dtype=np.int32), zeros)


def word_columns(levels: Sequence[Level], order: int, part: slice = slice(None)) -> Ints:
    """(N, order): the words of the n-grams of an order, or of a part of them."""
    rows = np.arange(*part.indices(len(levels[order])), dtype=np.int32)
    columns = np.empty((len(rows), order), np.int32)
    for n in range(order, 0, -1):
        columns[:, n - 1] = levels[n].words[rows]
        rows = levels[n].contexts[rows]
    return columns
