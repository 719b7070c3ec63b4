"""Random texts, and a plain Kneser-Ney to compare with: dictionaries and the formulas."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import settings
from hypothesis import strategies as st

from earshot.language.ngrams.kneser_ney import FEW_DATA_DISCOUNTS
from earshot.language.ngrams.model import NGramModel
from earshot.language.ngrams.text import END, OUTSIDE, START, Text, choose_vocabulary

Words = tuple[int, ...]
Sentences = Sequence[Sequence[str]]

TEXTS = st.lists(
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8), min_size=1, max_size=12
)
few = settings(max_examples=40, deadline=None)
ORDERS = st.integers(1, 4)


def numbered(sentences: Sentences, vocabulary: str = "abcd") -> tuple[Sequence[str], list[int]]:
    """A vocabulary of some of the words, and the text in it."""
    text = Text.of(sentences)
    words = choose_vocabulary([text], 0, vocabulary)
    return words, text.in_words_of(words).tolist()


def probs_after(model: NGramModel, histories: Sequence[Words]) -> npt.NDArray[np.float64]:
    """(H, V): of each word after each history."""
    size = len(model.words)
    # A word outside the vocabulary keeps them apart.
    ids = [id for h in histories for word in range(size) for id in (*h, word, OUTSIDE)]
    ends = np.array([id == OUTSIDE for id in ids])
    probs = model.token_probs(np.array(ids, np.int32))
    return probs[np.flatnonzero(ends) - 1].reshape(len(histories), size)


def all_histories(vocab_size: int, longest: int) -> list[Words]:
    """Of up to so many words, with and without the start of a sentence before them."""
    inner = [word for word in range(vocab_size) if word not in (START, END)]
    starts = [(), (START,)]
    return [
        (*start, *words)
        for start in starts
        for length in range(longest + 1)
        for words in itertools.product(inner, repeat=length)
    ]


class PlainKneserNey:
    """Probabilities by recursion, of counts in dictionaries."""

    def __init__(self, vocab_size: int, ids: Sequence[int], order: int, min_count: int = 1) -> None:
        self.vocab_size, self.order, self.min_count = vocab_size, order, min_count
        raw = self._raw(ids)
        self.counts = {
            n: {
                words: raw[n][words]
                if n == order or words[0] == START
                else sum(longer[1:] == words for longer in raw[n + 1])
                for words in raw[n]
            }
            for n in raw
        }
        self.counts[1].pop((START,), None)
        self.discounts = {n: self._discounts(n) for n in self.counts}

    def prob(self, word: int, history: Words) -> float:
        """Of a word after the last ``order - 1`` words of a history."""
        history = history[len(history) - min(len(history), self.order - 1) :]
        return self._prob(word, history)

    def _prob(self, word: int, history: Words) -> float:
        lower = self._prob(word, history[1:]) if history else 1 / (self.vocab_size - 1)
        n = len(history) + 1
        after = {w: c for w, c in self.counts[n].items() if w[:-1] == history}
        total = sum(after.values())
        if not total:
            return lower
        taken = sum(self._taken(n, count) for count in after.values())
        count = after.get((*history, word), 0)
        return (count - self._taken(n, count) + taken * lower) / total

    def _raw(self, ids: Sequence[int]) -> dict[int, Counter[Words]]:
        raw: dict[int, Counter[Words]] = defaultdict(Counter)
        for n in range(1, self.order + 1):
            raw[n] = Counter()
            for i in range(len(ids) - n + 1):
                words = tuple(ids[i : i + n])
                if min(words) >= 0 and END not in words[:-1]:
                    raw[n][words] += 1
        return raw

    def _taken(self, n: int, count: int) -> float:
        if n == self.order > 1 and count < self.min_count:
            return count
        return (0.0, *self.discounts[n])[min(count, 3)]

    def _discounts(self, n: int) -> tuple[float, float, float]:
        of = Counter(self.counts[n].values())
        if not all(of[k] for k in (1, 2, 3, 4)):
            return FEW_DATA_DISCOUNTS
        y = of[1] / (of[1] + 2 * of[2])
        found = tuple(k - (k + 1) * y * of[k + 1] / of[k] for k in (1, 2, 3))
        return found if found[1] > 0 and found[2] > 0 else FEW_DATA_DISCOUNTS  # type: ignore[return-value]
