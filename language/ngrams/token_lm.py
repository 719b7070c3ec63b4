"""An ARPA model over a transducer's labels as a beam fuses it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import torch

from earshot.decoder_kernels.transducer.token_lm import TokenLm
from earshot.language.ngrams.arpa import (
    LEAST_LOG10,
    NATS,
    SENTENCE_START,
    UNKNOWN_WORDS,
    Arpa,
    NGram,
)
from earshot.language.ngrams.label_words import label_words

Context = tuple[int, ...]


def token_lm_of(arpa: Arpa, labels: Sequence[str]) -> TokenLm:
    """The model of labels, which are spelled or numbered in it: see `label_words`.

    A label that it has not costs what its unknown word does, whatever stands before it. Raises
    GraphSourceError for a model of other words.
    """
    return token_lm_by(arpa, label_words(arpa.words, labels).words)


def token_lm_by(arpa: Arpa, words: Sequence[str | None]) -> TokenLm:
    """The model of labels that are these words in it; None is one that it has not."""
    return _Automaton(arpa, words).built()


class _Automaton:
    """States are the contexts that an n-gram begins with, shorter ones first."""

    def __init__(self, arpa: Arpa, labels: Sequence[str | None]) -> None:
        ids = {word: number for number, word in enumerate(arpa.words)}
        words = [None if label is None else ids[label] for label in labels]
        unknown = next((ids[word] for word in UNKNOWN_WORDS if word in ids), None)
        self._words = [unknown if word is None else word for word in words]
        self._orders = arpa.orders
        self._labels: dict[int, list[int]] = defaultdict(list)
        for label, word in enumerate(words):
            if word is not None:
                self._labels[word].append(label)
        start = ids.get(SENTENCE_START)
        self._first: Context = () if start is None else (start,)
        self._contexts = self._known_contexts()
        self._states = {context: number for number, context in enumerate(self._contexts)}

    def built(self) -> TokenLm:
        arcs = [self._arcs(context) for context in self._contexts]
        counts = torch.tensor([0, *map(len, arcs)])
        flat = [arc for each in arcs for arc in each]
        shorter = [self._states[context[1:]] for context in self._contexts]
        back_offs = [_natural(self._back_off(context)) for context in self._contexts]
        return TokenLm(
            counts.cumsum(0),
            torch.tensor([label for label, _, _ in flat], dtype=torch.int32),
            torch.tensor([target for _, target, _ in flat], dtype=torch.int32),
            torch.tensor([_natural(log) for _, _, log in flat], dtype=torch.float32),
            torch.tensor(shorter, dtype=torch.int32),
            torch.tensor(back_offs, dtype=torch.float32),
            self._state(self._first),
        )

    def _known_contexts(self) -> list[Context]:
        """The start, those that something follows or that cost a back-off, and all their ends."""
        found: set[Context] = {(), self._first}
        for order, ngrams in enumerate(self._orders, 1):
            found.update(words[:-1] for words in ngrams)
            if order < len(self._orders):
                found.update(words for words, ngram in ngrams.items() if ngram.log10_back_off)
        found.update([context[place:] for context in found for place in range(len(context))])
        self._next = self._by_context(found)
        return sorted(found, key=lambda context: (len(context), context))

    def _by_context(self, contexts: set[Context]) -> Mapping[Context, dict[int, NGram]]:
        """The labels that are known after each context, with their n-grams."""
        known: dict[Context, dict[int, NGram]] = {context: {} for context in contexts}
        for ngrams in self._orders[1:]:
            for words, ngram in ngrams.items():
                for label in self._labels.get(words[-1], ()):
                    known[words[:-1]][label] = ngram
        return known

    def _arcs(self, context: Context) -> list[tuple[int, int, float]]:
        """Label, state after it, log10, in the order of labels."""
        if not context:
            return [self._first_arc(label) for label in range(len(self._words))]
        found = sorted(self._next[context].items())
        return [
            (label, self._after(context, self._words[label]), ngram.log10_prob)
            for label, ngram in found
        ]

    def _first_arc(self, label: int) -> tuple[int, int, float]:
        word = self._words[label]
        if word is None:
            return label, 0, LEAST_LOG10
        return label, self._after((), word), self._orders[0][(word,)].log10_prob

    def _after(self, context: Context, word: int | None) -> int:
        assert word is not None
        words = (*context, word)
        return self._state(words[max(0, len(words) - len(self._orders) + 1) :])

    def _state(self, context: Context) -> int:
        """That of the longest of its ends that is one."""
        while context not in self._states:
            context = context[1:]
        return self._states[context]

    def _back_off(self, context: Context) -> float:
        if not context:
            return 0.0
        kept = self._orders[len(context) - 1].get(context)
        return 0.0 if kept is None else kept.log10_back_off


def _natural(log10: float) -> float:
    """The natural logarithm; of less than an ARPA's "never" that one's."""
    return max(log10, LEAST_LOG10) * NATS
