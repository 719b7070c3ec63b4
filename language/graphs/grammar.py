"""G: a back-off n-gram as an acceptor of words.

A state is a history. Its arcs are the words that the model knows after it, one arc labelled with
the back-off symbol leads to the history without its oldest word. Taking that arc is allowed even
where the model knows the longer n-gram, as in all decoders with static graphs; of a monotone model
(`language.ngrams.monotone`) it is never cheaper.

A history after which the model knows nothing is no state: whoever would go there goes straight to
where it backs off to, at the cost of both (Kaldi's RemoveRedundantStates). Of a pruned model that
is most of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.language.graphs.fst import Fst
from earshot.language.ngrams.arpa import SENTENCE_END
from earshot.language.ngrams.levels import Ints, Longs, Mask
from earshot.language.ngrams.stepped_model import ABSENT, SteppedModel


@dataclass(frozen=True, eq=False)
class Grammar:
    """G, with word ids on both sides, and what else the model says.

    ``starts_empty``: the model does not know where a sentence starts. ``unknown_cost`` is the cost
    of the model's unknown word after the empty history; of a model without one, that of its rarest
    word. ``states_dropped``: histories that are no states.
    """

    fst: Fst
    starts_empty: bool
    unknown_cost: float
    states_dropped: int


def grammar_of(model: SteppedModel, word_ids: Mapping[str, int], back_off: int) -> Grammar:
    """G over ``word_ids`` (from 1), which has the model's words.

    ``back_off`` is the label of the back-off arcs; their output is epsilon.

    Raises GraphSourceError if the model has none of the words or no end of a sentence.
    """
    return _Histories(model, word_ids).grammar(back_off)


@dataclass(frozen=True, eq=False)
class _Arcs:
    """Arcs (A,): states, labels in and out, costs in steps."""

    sources: Longs
    inputs: Ints
    outputs: Ints
    costs: Longs
    targets: Longs


class _Histories:
    """The model's histories, by the order and the row of their n-grams."""

    def __init__(self, model: SteppedModel, word_ids: Mapping[str, int]) -> None:
        self._model = model
        self._labels = np.array([word_ids.get(word, 0) for word in model.words], np.int32)
        # Words before the end of a sentence are histories, where there are longer n-grams.
        self._orders = range(model.order)
        self._stays = [self._states(n) for n in self._orders]
        self._numbers = self._numbered()
        self._targets, self._more = self._resolved()

    def grammar(self, back_off: int) -> Grammar:
        model = self._model
        loop = model.levels[1].words
        if not self._labels[loop].any():
            raise GraphSourceError("the language model has none of the words that can be spelled")
        if model.end == ABSENT:
            raise GraphSourceError(f"the language model has no {SENTENCE_END}: no sentence may end")
        starts_empty = model.start == ABSENT or model.order == 1
        start = 0 if starts_empty else int(self._numbers[1][self._row_of_start()])
        arcs = [self._spoken(n) for n in range(1, model.order + 1)]
        arcs += [self._back_offs(n, back_off) for n in self._orders[1:]]
        histories = sum(int((self._words(n) != model.end).sum()) for n in self._orders[1:])
        fst = Fst.from_columns(
            start,
            self._finals(),
            np.concatenate([each.sources for each in arcs]),
            np.concatenate([each.inputs for each in arcs]),
            np.concatenate([each.outputs for each in arcs]),
            np.concatenate([each.costs for each in arcs]) * model.step,
            np.concatenate([each.targets for each in arcs]),
        )
        return Grammar(
            fst, starts_empty, model.unknown * model.step, 1 + histories - fst.num_states
        )

    def _words(self, n: int) -> Ints:
        return self._model.levels[n].words

    def _row_of_start(self) -> int:
        return int(np.flatnonzero(self._words(1) == self._model.start)[0])

    def _states(self, n: int) -> Mask:
        """Which n-grams of an order something is listed after; the start is a state anyhow."""
        stays = np.zeros(len(self._model.levels[n]), bool)
        stays[self._model.levels[n + 1].contexts] = True
        if n == 0:
            stays[:] = True
        elif n == 1 and self._model.start != ABSENT:
            stays[self._row_of_start()] = True
        return stays

    def _numbered(self) -> list[Longs]:
        """The state of each history that is one, order by order."""
        numbers, first = [], 0
        for stays in self._stays:
            numbers.append(first + np.cumsum(stays) - 1)
            first += int(stays.sum())
        return numbers

    def _resolved(self) -> tuple[list[Longs], list[Longs]]:
        """For each history: the state that stands for it, and the cost of going there."""
        targets, more = [self._numbers[0]], [np.zeros(1, np.int64)]
        for n in self._orders[1:]:
            suffixes, stays = self._model.levels[n].suffixes, self._stays[n]
            away = self._model.back_offs[n] + more[-1][suffixes]
            targets.append(np.where(stays, self._numbers[n], targets[-1][suffixes]))
            more.append(np.where(stays, 0, away))
        return targets, more

    def _spoken(self, n: int) -> _Arcs:
        """The words of the n-grams of an order, each to the longest history that it leads to."""
        model, level = self._model, self._model.levels[n]
        if n < model.order:
            targets, more = self._targets[n], self._more[n]
        else:
            targets, more = self._targets[n - 1][level.suffixes], self._more[n - 1][level.suffixes]
        labels = self._labels[level.words]
        kept = labels > 0
        return _Arcs(
            self._numbers[n - 1][level.contexts[kept]],
            labels[kept],
            labels[kept],
            (model.costs[n] + more)[kept],
            targets[kept],
        )

    def _back_offs(self, n: int, label: int) -> _Arcs:
        stays = self._stays[n]
        suffixes = self._model.levels[n].suffixes[stays]
        return _Arcs(
            self._numbers[n][stays],
            np.full(len(suffixes), label, np.int32),
            np.zeros(len(suffixes), np.int32),
            self._model.back_offs[n][stays] + self._more[n - 1][suffixes],
            self._targets[n - 1][suffixes],
        )

    def _finals(self) -> npt.NDArray[np.float64]:
        finals = np.full(sum(int(stays.sum()) for stays in self._stays), np.inf)
        for n in range(1, self._model.order + 1):
            level = self._model.levels[n]
            ends = level.words == self._model.end
            finals[self._numbers[n - 1][level.contexts[ends]]] = self._model.costs[n][ends]
        return finals * self._model.step
