"""How well a language model predicts a text."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from earshot.language.ngrams.arpa import (
    LEAST_LOG10,
    NATS,
    SENTENCE_END,
    SENTENCE_START,
    UNKNOWN_WORDS,
    Arpa,
    NGram,
)

_NO_NGRAM = NGram(LEAST_LOG10, 0.0)


@dataclass(frozen=True)
class Prediction:
    """What a model made of a text.

    ``words`` are all, ``unknown`` those that the model does not have, ``nats`` the cost of the
    others and of the ends of the sentences.
    """

    sentences: int
    words: int
    unknown: int
    nats: float

    @property
    def perplexity(self) -> float:
        """Perplexity of known words and ends of sentences; NaN of an empty text."""
        told = self.words - self.unknown + self.sentences
        return math.exp(self.nats / told) if told else math.nan


class ArpaScores:
    """Costs by the book: the longest n-gram that is known, and the back-offs to it."""

    def __init__(self, arpa: Arpa) -> None:
        self._ids = {word: i for i, word in enumerate(arpa.words) if word not in UNKNOWN_WORDS}
        self._span = arpa.order - 1
        self._ngrams: dict[tuple[int, ...], NGram] = {}
        for ngrams in arpa.orders:
            self._ngrams.update(ngrams)

    def costs(self, words: Sequence[str]) -> list[float | None]:
        """Nats of each word and of the end of the sentence; None for a word that is unknown.

        What comes after an unknown word has no history.
        """
        history: tuple[int, ...] = (self._ids.get(SENTENCE_START, -1),)
        costs: list[float | None] = []
        for text in [*words, SENTENCE_END]:
            word = self._ids.get(text)
            if word is None:
                costs.append(None)
                history = ()
            else:
                costs.append(self._cost(history, word))
                history = (*history, word)[-self._span :] if self._span else ()
        return costs

    def predict(self, sentences: Iterable[Sequence[str]]) -> Prediction:
        """Walk a text."""
        told = words = unknown = 0
        nats = 0.0
        for sentence in sentences:
            told += 1
            costs = [cost for cost in self.costs(sentence) if cost is not None]
            words += len(sentence)
            unknown += len(sentence) + 1 - len(costs)
            nats += math.fsum(costs)
        return Prediction(told, words, unknown, nats)

    def _cost(self, history: tuple[int, ...], word: int) -> float:
        log10 = 0.0
        while history and (*history, word) not in self._ngrams:
            log10 += self._ngrams.get(history, _NO_NGRAM).log10_back_off
            history = history[1:]
        return -(log10 + self._ngrams.get((*history, word), _NO_NGRAM).log10_prob) * NATS
