"""G: a back-off n-gram as an acceptor of words.

A state is a history. Its arcs are the words that the model knows after it, one arc labelled with
the back-off symbol leads to the history without its oldest word. Taking that arc is allowed even
where the model knows the longer n-gram, as in all decoders with static graphs.

A history after which the model knows nothing is no state: whoever would go there goes straight to
where it backs off to, at the cost of both (Kaldi's RemoveRedundantStates). Of a pruned model that
is most of them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.language.graphs.fst import Fst
from earshot.language.ngrams.arpa import (
    SENTENCE_END,
    SENTENCE_START,
    UNKNOWN_WORDS,
    Arpa,
    NGram,
)

History = tuple[int, ...]
EMPTY: History = ()
NATS = math.log(10.0)


@dataclass(frozen=True, eq=False)
class Grammar:
    """G, with word ids on both sides, and what else the model says.

    ``starts_empty``: the model does not know where a sentence starts. ``unknown_cost`` is the cost
    of the model's unknown word after the empty history; of a model without one, that of its rarest
    word.
    """

    fst: Fst
    starts_empty: bool
    unknown_cost: float
    ngrams_used: int
    states_dropped: int


def grammar_of(arpa: Arpa, word_ids: Mapping[str, int], back_off: int) -> Grammar:
    """G over ``word_ids`` (from 1); n-grams with other words are left out.

    ``back_off`` is the label of the back-off arcs; their output is epsilon.

    Raises GraphSourceError if the model has none of the words or no end of a sentence.
    """
    return _Histories(arpa, word_ids).grammar(back_off)


@dataclass(slots=True)
class _State:
    """A history while G is built: costs of words and of ending after it, and of backing off."""

    back_off_cost: float = 0.0
    final: float = math.inf
    words: dict[int, float] = field(default_factory=dict)


class _Histories:
    """The model's histories by their words, and the n-grams hung on them."""

    def __init__(self, arpa: Arpa, word_ids: Mapping[str, int]) -> None:
        self._arpa = arpa
        self._ids = [word_ids.get(word, 0) for word in arpa.words]
        by_text = {word: i for i, word in enumerate(arpa.words)}
        self._sentence_start = by_text.get(SENTENCE_START, -1)
        self._sentence_end = by_text.get(SENTENCE_END, -1)
        self._unknown = [by_text[word] for word in UNKNOWN_WORDS if word in by_text]
        self._states: dict[History, _State] = {EMPTY: _State()}
        self._used = 0
        for order, ngrams in enumerate(arpa.orders, start=1):
            for words, ngram in ngrams.items():
                if self._usable(words):
                    self._hang(words, ngram, order)

    def grammar(self, back_off: int) -> Grammar:
        start: History = (self._sentence_start,)
        if start not in self._states:
            start = EMPTY
        loop = self._states[EMPTY]
        if not loop.words:
            raise GraphSourceError("the language model has none of the words that can be spelled")
        if all(state.final == math.inf for state in self._states.values()):
            raise GraphSourceError(f"the language model has no {SENTENCE_END}: no sentence may end")
        resolved = self._without_redundant({start, EMPTY})
        return Grammar(
            self._fst(start, resolved, back_off),
            start == EMPTY,
            self._unknown_cost(),
            self._used,
            len(self._states) - len({history for history, _ in resolved.values()}),
        )

    def _usable(self, words: History) -> bool:
        start, end = self._sentence_start, self._sentence_end
        if words[-1] == start:
            return len(words) == 1
        if words[-1] != end and not self._ids[words[-1]]:
            return False
        context = words[1:-1] if words[0] == start else words[:-1]
        return all(self._ids[word] for word in context)

    def _hang(self, words: History, ngram: NGram, order: int) -> None:
        self._used += 1
        history, word = words[:-1], words[-1]
        if word != self._sentence_start:
            state = self._state(history)
            cost = -ngram.log10_prob * NATS
            if word == self._sentence_end:
                state.final = cost
            else:
                state.words[word] = cost
        if order < self._arpa.order and word != self._sentence_end:
            self._state(words).back_off_cost = -ngram.log10_back_off * NATS

    def _state(self, history: History) -> _State:
        """The state of a history.

        Pruning may have taken the n-gram that leads to a history of longer ones. Such a history is
        put in place with the probability that its n-gram has by backing off, and a weight of 1.
        """
        state = self._states.get(history)
        if state is None:
            state = self._states[history] = _State()
            if len(history) > 1 or history[-1] != self._sentence_start:
                before = self._state(history[:-1])
                if history[-1] not in before.words:
                    before.words[history[-1]] = self._by_back_off(history)
        return state

    def _by_back_off(self, words: History) -> float:
        cost, history = 0.0, self._longest(words[:-1])
        while words[-1] not in self._states[history].words:
            cost += self._states[history].back_off_cost
            history = self._back_off(history)
        return cost + self._states[history].words[words[-1]]

    def _back_off(self, history: History) -> History:
        return self._longest(history[1:])

    def _longest(self, history: History) -> History:
        """The longest end of a history that is a state."""
        while history not in self._states:
            history = history[1:]
        return history

    def _without_redundant(self, kept: set[History]) -> dict[History, tuple[History, float]]:
        """For each history: the one that stands for it, and the cost of going there."""
        resolved: dict[History, tuple[History, float]] = {}
        for history in sorted(self._states, key=len):
            state = self._states[history]
            if history in kept or state.words or state.final < math.inf:
                resolved[history] = history, 0.0
            else:
                target, cost = resolved[self._back_off(history)]
                resolved[history] = target, cost + state.back_off_cost
        return resolved

    def _fst(
        self, start: History, resolved: Mapping[History, tuple[History, float]], back_off: int
    ) -> Fst:
        numbers = {
            history: i for i, history in enumerate(h for h in resolved if resolved[h][0] == h)
        }
        columns: list[tuple[int, int, int, float, int]] = []
        for history, source in numbers.items():
            state = self._states[history]
            for word, cost in state.words.items():
                target, more = resolved[self._longest((*history, word))]
                label = self._ids[word]
                columns.append((source, label, label, cost + more, numbers[target]))
            if history != EMPTY:
                target, more = resolved[self._back_off(history)]
                columns.append((source, back_off, 0, state.back_off_cost + more, numbers[target]))
        finals = np.array([self._states[history].final for history in numbers])
        sources, inputs, outputs, costs, targets = zip(*columns, strict=True)
        return Fst.from_columns(
            numbers[start],
            finals,
            np.array(sources),
            np.array(inputs),
            np.array(outputs),
            np.array(costs),
            np.array(targets),
        )

    def _unknown_cost(self) -> float:
        unigrams = self._arpa.orders[0]
        given = [-unigrams[(word,)].log10_prob * NATS for word in self._unknown]
        return min(given) if given else max(self._states[EMPTY].words.values())
