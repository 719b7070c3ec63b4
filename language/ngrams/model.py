"""A back-off n-gram model as arrays: what smoothing makes, mixing and pruning change."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earshot.language.ngrams.counts import Floats, before, single_words
from earshot.language.ngrams.levels import MISSING, Ints, Level
from earshot.language.ngrams.text import Ids

NEARLY_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class NGramModel:
    """Probabilities of words after histories.

    ``probs[n]`` (N,): of the last word of each n-gram of order n after the others; that of START is
    0. ``back_offs[n]`` (N,): what the probability of a word that is not listed after this n-gram
    is multiplied with one level below; the highest order has none. ``counts[n]`` (N,): how often
    each n-gram was seen. ``words[:3]`` are START, END and UNKNOWN.
    """

    words: Sequence[str]
    levels: Sequence[Level]
    probs: Sequence[Floats]
    back_offs: Sequence[Floats]
    counts: Sequence[Floats]

    @property
    def order(self) -> int:
        """The n of the longest n-grams."""
        return len(self.levels) - 1

    @property
    def num_ngrams(self) -> int:
        """The number of n-grams of all orders."""
        return sum(map(len, self.levels[1:]))

    def token_probs(self, ids: Ids) -> Floats:
        """(T,): the probability of each word of a text, and of the ends of its sentences.

        0 for the starts of sentences and words outside the vocabulary.
        """
        ending = single_words(ids)
        probs = take(self.probs[1], ending, 0.0)
        for n in range(2, self.order + 1):
            contexts = before(ending)
            ending = self.levels[n].find(contexts, ids)
            by_back_off = take(self.back_offs[n - 1], contexts, 1.0) * probs
            probs = np.where(ending == MISSING, by_back_off, take(self.probs[n], ending, 0.0))
        return probs


def normalizing_back_offs(levels: Sequence[Level], probs: Sequence[Floats]) -> list[Floats]:
    """The back-offs that make all probabilities after each n-gram sum to 1.

    Where the words that are listed after it are all there are, it does not matter and is 1.
    """
    back_offs = []
    for n in range(len(levels) - 1):
        level = levels[n + 1]
        listed = np.bincount(level.contexts, probs[n + 1], len(levels[n]))
        shorter = np.bincount(level.contexts, probs[n][level.suffixes], len(levels[n]))
        left, left_shorter = 1.0 - listed, 1.0 - shorter
        free = (left > NEARLY_NOTHING) & (left_shorter > NEARLY_NOTHING)
        back_offs.append(np.divide(left, left_shorter, out=np.ones_like(left), where=free))
    back_offs[0] = np.ones(1)
    return back_offs


def take(values: Floats, rows: Ints, otherwise: float) -> Floats:
    """The values of the rows; of those that are MISSING, something else."""
    found = np.full(len(rows), otherwise)
    there = rows != MISSING
    found[there] = values[rows[there]]
    return found
