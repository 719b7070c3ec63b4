"""How often each n-gram stands in a text.

The n-grams of an order are sorted a range of their contexts at a time, so that a range's places in
the text are no more than are held together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import LanguageModelError
from earshot.language.ngrams.columns import Columns, parts
from earshot.language.ngrams.levels import (
    MISSING,
    Ints,
    Level,
    Longs,
    all_words,
    keys_of,
    root,
)
from earshot.language.ngrams.text import START, Ids

Floats = npt.NDArray[np.float64]
MAX_ROWS = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class NGramCounts:
    """``levels[n]`` has the n-grams of order n, ``counts[n]`` (N,) how often each was seen.

    A word outside the vocabulary parts the text: no n-gram goes over it. ``counts[0]`` counts words
    and ends of sentences.
    """

    levels: Sequence[Level]
    counts: Sequence[Floats]


def count_ngrams(ids: Ids, vocab_size: int, order: int, columns: Columns) -> NGramCounts:
    """Count what stands in ``ids`` (T,), sentences between START and END.

    Raises LanguageModelError for more n-grams of an order than rows can be numbered.
    """
    levels = [root(vocab_size), all_words(vocab_size)]
    words = _count_words(ids, vocab_size, columns.together)
    counts = [np.array([words.sum() - words[START]]), words]
    ending: Ints = ids
    for n in range(2, order + 1):
        text = _Text(ids, ending, vocab_size, columns.together)
        rows = _Rows(columns, len(ids) if n < order else 0)
        for begin, end in _ranges(text, counts[-1], columns):
            rows.add(text, begin, end)
            columns.rest()
        level, seen = rows.level(vocab_size)
        ending = rows.ending
        levels.append(level)
        counts.append(seen)
    return NGramCounts(levels, counts)


def _count_words(ids: Ids, vocab_size: int, together: int) -> Floats:
    """(V,): how often each word stands in a text."""
    counts = np.zeros(vocab_size, np.int64)
    for part in parts(len(ids), together):
        counts += np.bincount(ids[part][ids[part] >= 0], minlength=vocab_size)
    return counts.astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Text:
    """A text, and for each place the row of the n-gram of the order below that ends there.

    An n-gram's key is that row one place earlier, its context, and its last word.
    """

    ids: Ids
    ending: Ints
    vocab_size: int
    together: int

    def find(self, begin: int, end: int) -> tuple[Longs, Longs]:
        """The keys (M,) in a range, and at which places (M,) of the text they stand."""
        keys, places = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for part in parts(len(self.ids), self.together):
            ids, contexts = self.ids[part], _before(self.ending, part)
            each = keys_of(contexts, ids, self.vocab_size)
            # After the end of a sentence comes the start of the next: nothing goes over that.
            known = (contexts != MISSING) & (ids >= 0) & (ids != START)
            found = np.flatnonzero(known & (begin <= each) & (each < end))
            keys.append(each[found])
            places.append(found + part.start)
        return np.concatenate(keys), np.concatenate(places)

    def words_after(self, context: int) -> Floats:
        """(V,): how often each word comes after a context."""
        seen = np.zeros(self.vocab_size)
        for part in parts(len(self.ids), self.together):
            after = self.ids[part][_before(self.ending, part) == context]
            seen += np.bincount(after[after >= 0], minlength=self.vocab_size)
        return seen


def _ranges(text: _Text, seen: Floats, columns: Columns) -> Iterator[tuple[int, int]]:
    """Ranges of keys with as few places as are held together, or one n-gram's.

    ``seen`` (C,) is how often each context was seen.
    """
    size = text.vocab_size
    for begin, end in _runs(seen, columns):
        if end > begin + 1 or seen[begin] <= columns.together:
            yield begin * size, end * size
            continue
        for first, last in _runs(text.words_after(begin), columns):
            yield begin * size + first, begin * size + last


def _runs(weights: Floats, columns: Columns) -> Iterator[tuple[int, int]]:
    """Runs of rows that weigh as much as is held together at most, or have one row."""
    growing, total = columns.growing(np.float64), 0.0
    for part in parts(len(weights), columns.together):
        growing.add(total + np.cumsum(weights[part]))
        total += float(weights[part].sum())
    sums, begin, before = growing.whole(), 0, 0.0
    while begin < len(sums):
        end = int(np.searchsorted(sums, before + columns.together, "right"))
        end = max(begin + 1, end)
        yield begin, end
        begin, before = end, float(sums[end - 1])


class _Rows:
    """The n-grams of an order, a range after the other, and which of them ends at each place.

    ``places``: for how many places of the text that is asked for.
    """

    def __init__(self, columns: Columns, places: int) -> None:
        self.ending: Ints = columns.filled(places, MISSING, np.int32)
        self._contexts = columns.growing(np.int32)
        self._words = columns.growing(np.int32)
        self._suffixes = columns.growing(np.int32)
        self._seen = columns.growing(np.float64)
        self._size = 0

    def add(self, text: _Text, begin: int, end: int) -> None:
        """Add the n-grams whose keys are in a range."""
        keys, places = text.find(begin, end)
        order = np.argsort(keys)
        keys = keys[order]
        is_new = np.append(np.ones(min(1, len(keys)), bool), keys[1:] != keys[:-1])
        firsts = np.flatnonzero(is_new)
        if self._size + len(firsts) > MAX_ROWS:
            raise LanguageModelError(f"more than {MAX_ROWS:,} n-grams of an order")
        self._seen.add(np.diff(np.append(firsts, len(keys))).astype(np.float64))
        self._contexts.add((keys[firsts] // text.vocab_size).astype(np.int32))
        self._words.add((keys[firsts] % text.vocab_size).astype(np.int32))
        self._suffixes.add(text.ending[places[order[firsts]]])
        if len(self.ending):
            rows = np.empty(len(keys), np.int32)
            rows[order] = np.cumsum(is_new, dtype=np.int32) + (self._size - 1)
            self.ending[places] = rows
        self._size += len(firsts)

    def level(self, vocab_size: int) -> tuple[Level, Floats]:
        """All of them, and how often each was seen."""
        contexts, words = self._contexts.whole(), self._words.whole()
        return Level(vocab_size, contexts, words, self._suffixes.whole()), self._seen.whole()


def single_words(ids: Ids) -> Ints:
    """(T,): the row of level 1 that ends at each place of a text."""
    return np.where(ids >= 0, ids, MISSING).astype(np.int32)


def before(ending: Ints) -> Ints:
    """(T,): what ends one place earlier."""
    return _before(ending, slice(0, len(ending)))


def _before(ending: Ints, part: slice) -> Ints:
    """Rows that end one place earlier than each place of a part."""
    if part.start > 0:
        return ending[part.start - 1 : part.stop - 1]
    return np.concatenate([[MISSING], ending[: max(0, part.stop - 1)]]).astype(np.int32)


def starting_sentences(levels: Sequence[Level]) -> list[int]:
    """How many n-grams of each order begin with the start of a sentence: they come first."""
    counts = [0, 1]  # of single words START alone, which has the least number
    for level in levels[2:]:
        counts.append(int(np.searchsorted(level.contexts, np.int32(counts[-1]), "left")))
    return counts
