"""Interpolated Kneser-Ney smoothing with three discounts (Chen and Goodman 1998, section 3).

Of the orders below the highest, an n-gram counts for the different words it was seen after, and
only at the start of a sentence, where there are none, for how often it was seen.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from earshot.language.ngrams.columns import TOGETHER, Columns, groups, parts
from earshot.language.ngrams.counts import Floats, NGramCounts, count_ngrams, starting_sentences
from earshot.language.ngrams.levels import Ints, Level, Mask
from earshot.language.ngrams.model import NGramModel
from earshot.language.ngrams.text import START, Ids

FEW_DATA_DISCOUNTS = (0.5, 1.0, 1.5)
"""Where a text is too small to estimate them."""


def estimate(
    words: Sequence[str],
    ids: Ids,
    order: int,
    min_count: int = 1,
    columns: Columns | None = None,
) -> NGramModel:
    """The model of a text in ids (T,) of ``words``, which begin with the special words.

    Of the highest order, what was seen less than ``min_count`` times is not listed: its share goes
    to the order below. Single words are always listed. ``columns`` makes the model's columns, in
    memory if absent; the model is the same. Raises LanguageModelError where they have no room.
    """
    columns = columns or Columns()
    seen = count_ngrams(ids, len(words), order, columns)
    levels, counts = list(seen.levels), list(seen.counts)
    probs = [np.ones(1)]
    back_offs: list[Floats] = []
    for n in range(1, order + 1):
        least = min_count if n == order > 1 else 0
        found = _smoothed(seen, n, least, probs[-1], columns)
        levels[n], counts[n] = found.level, found.counts
        back_offs.append(found.left)
        probs.append(found.probs)
    back_offs[0] = np.ones(1)
    return NGramModel(words, levels, probs, back_offs, counts)


class _Smoothed(NamedTuple):
    """The n-grams of an order that are listed, and what discounts left to those below (C,)."""

    level: Level
    counts: Floats
    probs: Floats
    left: Floats


def _smoothed(seen: NGramCounts, n: int, least: int, below: Floats, columns: Columns) -> _Smoothed:
    """The probabilities of an order; ``below`` (C,) has those of the one below.

    Some contexts at a time, each with all that comes after it.
    """
    level, evidence = seen.levels[n], _evidence(seen, n, columns)
    taken = np.array([0.0, *discounts(evidence, columns.together)])
    left = columns.filled(len(seen.levels[n - 1]), 1.0, np.float64)
    probs, kept = columns.growing(np.float64), _Kept(columns) if least > 1 else None
    for part in groups(level.contexts, columns.together):
        listed = evidence[part] >= least
        own, lost = _discounted(evidence[part], taken, listed, level.contexts[part], left)
        lower = _uniform(len(level)) if n == 1 else below[level.suffixes[part]]
        probs.add((own + lost * lower)[listed])
        if kept:
            kept.add(level, seen.counts[n], part, listed)
        columns.rest()
    if kept:
        return _Smoothed(*kept.level(level), probs.whole(), left)
    return _Smoothed(level, seen.counts[n], probs.whole(), left)


class _Kept:
    """The rows of a level that are listed."""

    def __init__(self, columns: Columns) -> None:
        self._rows = [columns.growing(np.int32) for _ in range(3)]
        self._counts = columns.growing(np.float64)

    def add(self, level: Level, counts: Floats, part: slice, listed: Mask) -> None:
        for rows, column in zip(
            self._rows, (level.contexts, level.words, level.suffixes), strict=True
        ):
            rows.add(column[part][listed])
        self._counts.add(counts[part][listed])

    def level(self, all_of: Level) -> tuple[Level, Floats]:
        contexts, words, suffixes = (rows.whole() for rows in self._rows)
        return Level(all_of.vocab_size, contexts, words, suffixes), self._counts.whole()


def _evidence(seen: NGramCounts, n: int, columns: Columns) -> Floats:
    """(N,): what each n-gram of order n counts for."""
    if n + 1 == len(seen.levels) > 2:
        return seen.counts[n]
    evidence = columns.filled(len(seen.levels[n]), 0.0, np.float64)
    starts = len(evidence)
    if n + 1 < len(seen.levels):
        starts = starting_sentences(seen.levels[: n + 1])[n]
        after = seen.levels[n + 1].suffixes
        for part in parts(len(after), columns.together):
            np.add.at(evidence, after[part], 1.0)
            columns.rest()
    for part in parts(starts, columns.together):
        evidence[part] = seen.counts[n][part]
    if n == 1:
        evidence[START] = 0.0
    return evidence


def discounts(counts: Floats, together: int = TOGETHER) -> tuple[float, float, float]:
    """The discounts of counts of 1, 2, and 3 or more (equation 26 of the source)."""
    of = [0.0] * 5
    for part in parts(len(counts), together):
        of = [so_far + float((counts[part] == k).sum()) for k, so_far in enumerate(of)]
    if not all(of[1:]):
        return FEW_DATA_DISCOUNTS
    share = of[1] / (of[1] + 2 * of[2])
    one, two, more = (k - (k + 1) * share * of[k + 1] / of[k] for k in (1, 2, 3))
    if not (0 < two <= 2 and 0 < more <= 3):
        return FEW_DATA_DISCOUNTS
    return one, two, more


def _discounted(
    counts: Floats, taken_of: Floats, listed: Mask, contexts: Ints, left: Floats
) -> tuple[Floats, Floats]:
    """Shares that discounts leave to n-grams, and those that they took of each one's context.

    They take ``taken_of`` counts of 0, 1, 2 and 3 or more, and all of what is not listed. ``left``
    gets what they took of each context.
    """
    taken = np.where(listed, taken_of[np.minimum(counts, 3).astype(np.int64)], counts)
    first = contexts[0]
    of = contexts - first
    totals, sums = np.bincount(of, counts), np.bincount(of, taken)
    ours = left[first : contexts[-1] + 1]
    np.divide(sums, totals, out=ours, where=totals > 0)
    whole = totals[of]
    own = np.divide(counts - taken, whole, out=np.zeros(len(counts)), where=whole > 0)
    return own, ours[of]


def _uniform(vocab_size: int) -> Floats:
    lower = np.full(vocab_size, 1.0 / (vocab_size - 1))
    lower[START] = 0.0
    return lower
