"""How often each n-gram stands in a text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earshot.language.ngrams.levels import MISSING, Ints, Level, Mask, all_words, keys_of, root
from earshot.language.ngrams.text import START, Ids

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NGramCounts:
    """``levels[n]`` has the n-grams of order n, ``counts[n]`` (N,) how often each was seen.

    A word outside the vocabulary parts the text: no n-gram goes over it. ``counts[0]`` counts words
    and ends of sentences.
    """

    levels: Sequence[Level]
    counts: Sequence[Floats]


def count_ngrams(ids: Ids, vocab_size: int, order: int) -> NGramCounts:
    """Count what stands in ``ids`` (T,), sentences between START and END."""
    levels = [root(vocab_size), all_words(vocab_size)]
    words = ids[ids >= 0]
    counts = [
        np.array([float((words != START).sum())]),
        np.bincount(words, minlength=vocab_size).astype(np.float64),
    ]
    ending = single_words(ids)
    for n in range(2, order + 1):
        contexts = before(ending)
        level, seen = _next_level(ids, contexts, ending != MISSING, levels[-1])
        levels.append(level)
        counts.append(seen)
        if n < order:
            ending = level.find(contexts, ids)
    return NGramCounts(levels, counts)


def _next_level(ids: Ids, contexts: Ints, known: Mask, below: Level) -> tuple[Level, Floats]:
    """The n-grams that are one word longer, and how often each was seen.

    ``contexts`` (T,) has the row below of what ends one place earlier, ``known`` whether something
    ends here.
    """
    # After the end of a sentence comes the start of the next: nothing goes over that.
    places = np.flatnonzero((contexts != MISSING) & known & (ids != START))
    keys = keys_of(contexts[places], ids[places], below.vocab_size)
    keys.sort()
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else keys
    seen = np.diff(np.append(firsts, len(keys))).astype(np.float64)
    keys = keys[firsts]
    befores = (keys // below.vocab_size).astype(np.int32)
    words = (keys % below.vocab_size).astype(np.int32)
    suffixes = below.find(below.suffixes[befores], words)
    return Level(below.vocab_size, befores, words, suffixes), seen


def single_words(ids: Ids) -> Ints:
    """(T,): the row of level 1 that ends at each place of a text."""
    return np.where(ids >= 0, ids, MISSING).astype(np.int32)


def before(ending: Ints) -> Ints:
    """(T,): what ends one place earlier."""
    return np.concatenate([[MISSING], ending[:-1]]).astype(np.int32)


def starts_sentence(levels: Sequence[Level]) -> list[Mask]:
    """Whether an n-gram's first word is the start of a sentence, by order."""
    starts = [np.zeros(1, bool), levels[1].words == START]
    for level in levels[2:]:
        starts.append(starts[-1][level.contexts])
    return starts
