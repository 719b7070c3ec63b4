"""Interpolated Kneser-Ney smoothing with three discounts (Chen and Goodman 1998, section 3).

Of the orders below the highest, an n-gram counts for the different words it was seen after, and
only at the start of a sentence, where there are none, for how often it was seen.
"""

from collections.abc import Sequence

import numpy as np

from earshot.language.ngrams.counts import Floats, NGramCounts, count_ngrams, starts_sentence
from earshot.language.ngrams.levels import Ints, Mask
from earshot.language.ngrams.model import NGramModel
from earshot.language.ngrams.text import START, Ids

FEW_DATA_DISCOUNTS = (0.5, 1.0, 1.5)
"""Where a text is too small to estimate them."""


def estimate(words: Sequence[str], ids: Ids, order: int, min_count: int = 1) -> NGramModel:
    """The model of a text in ids (T,) of ``words``, which begin with the special words.

    Of the highest order, what was seen less than ``min_count`` times is not listed: its share goes
    to the order below. Single words are always listed.
    """
    seen = count_ngrams(ids, len(words), order)
    levels, counts = list(seen.levels), list(seen.counts)
    probs = [np.ones(1)]
    back_offs: list[Floats] = []
    for n in range(1, order + 1):
        evidence = _evidence(seen, n)
        listed = evidence >= (min_count if n == order > 1 else 0)
        own, left = _discounted(evidence, listed, levels[n].contexts, len(levels[n - 1]))
        back_offs.append(left)
        if not listed.all():
            levels[n] = levels[n].only(listed, np.arange(len(left), dtype=np.int32))
            own, counts[n] = own[listed], counts[n][listed]
        lower = _uniform(len(words)) if n == 1 else probs[n - 1][levels[n].suffixes]
        probs.append(own + left[levels[n].contexts] * lower)
    back_offs[0] = np.ones(1)
    return NGramModel(words, levels, probs, back_offs, counts)


def _evidence(seen: NGramCounts, n: int) -> Floats:
    """(N,): what each n-gram of order n counts for."""
    counts = seen.counts[n]
    if n + 1 < len(seen.levels):
        after = np.bincount(seen.levels[n + 1].suffixes, minlength=len(counts))
        counts = np.where(starts_sentence(seen.levels[: n + 1])[n], counts, after)
    if n == 1:
        counts[START] = 0.0
    return counts


def discounts(counts: Floats) -> tuple[float, float, float]:
    """The discounts of counts of 1, 2, and 3 or more (equation 26 of the source)."""
    of = [float((counts == k).sum()) for k in range(5)]
    if not all(of[1:]):
        return FEW_DATA_DISCOUNTS
    share = of[1] / (of[1] + 2 * of[2])
    one, two, more = (k - (k + 1) * share * of[k + 1] / of[k] for k in (1, 2, 3))
    if not (0 < two <= 2 and 0 < more <= 3):
        return FEW_DATA_DISCOUNTS
    return one, two, more


def _discounted(
    counts: Floats, listed: Mask, contexts: Ints, num_contexts: int
) -> tuple[Floats, Floats]:
    """The counts that discounts leave to n-grams, and those that they took from contexts.

    From what is not listed they take all.
    """
    taken = np.array([0.0, *discounts(counts)])[np.minimum(counts, 3).astype(np.int64)]
    taken = np.where(listed, taken, counts)
    totals = np.bincount(contexts, counts, num_contexts)
    sums = np.bincount(contexts, taken, num_contexts)
    left = np.divide(sums, totals, out=np.ones(num_contexts), where=totals > 0)
    ours = totals[contexts]
    return np.divide(counts - taken, ours, out=np.zeros(len(counts)), where=ours > 0), left


def _uniform(vocab_size: int) -> Floats:
    lower = np.full(vocab_size, 1.0 / (vocab_size - 1))
    lower[START] = 0.0
    return lower
