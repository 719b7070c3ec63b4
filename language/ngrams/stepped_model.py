"""A back-off model whose costs are whole steps, so that no order of additions changes a sum.

Graphs add costs along their arcs, images of language models along back-offs. Where both are to say
the same to the bit, the model is rounded once, before either is made of it.

Each n-gram has its context and its suffix (the n-gram without its oldest word) among those of the
order below. What a model lacks of them is put in with the probability that it has by backing off,
and no back-off: all texts keep their probability.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, MOST_BACK_OFF, NEVER
from earshot.language.ngrams.arpa import (
    MOST_LOG10_BACK_OFF,
    NATS,
    SENTENCE_END,
    SENTENCE_START,
    UNKNOWN_WORDS,
    Arpa,
    NGram,
)
from earshot.language.ngrams.levels import Ints, Level, Longs, Mask, root

STEP = 2.0**-8
"""In nats. float32 adds such steps exactly up to 2^15 nats, and `WfstOptions.graph_scale` is a
multiple of 2^-16: a cost times a scale is a whole number of the search's 2^-24 nats."""
LARGEST_STEP = 0.25
"""Beyond that words lose their order."""
ABSENT = -1
LACKING = 1 << 40


@dataclass(frozen=True, eq=False)
class SteppedModel:
    """Costs of words after histories, in steps of ``step`` nats.

    ``costs[n]`` (N,): of the last word of each n-gram of order n after the others, 0 to what an
    image can say. ``back_offs[n]`` (N,): the cost of forgetting the oldest word of each n-gram; the
    highest order has none. ``words`` by the numbers in ``levels``; ``start`` and ``end`` are those
    of a sentence's start and end, or ABSENT. ``unknown``: what an unknown word costs after no words
    (of a model without one, its rarest word). ``listed``: n-grams that the model had itself.
    """

    words: Sequence[str]
    levels: Sequence[Level]
    costs: Sequence[Longs]
    back_offs: Sequence[Longs]
    step: float
    start: int
    end: int
    unknown: int
    listed: int

    @property
    def order(self) -> int:
        """The n of the longest n-grams."""
        return len(self.levels) - 1

    @property
    def num_ngrams(self) -> int:
        """The number of n-grams of all orders."""
        return sum(map(len, self.levels[1:]))


def require_step(step: float) -> None:
    """Raises GraphSourceError for what is no power of two from STEP to LARGEST_STEP."""
    if not (STEP <= step <= LARGEST_STEP and math.frexp(step)[0] == 0.5):
        raise GraphSourceError(
            f"a step of {step:g} nats is no power of two from {STEP:g} to {LARGEST_STEP:g}"
        )


def stepped_model(arpa: Arpa, kept: Collection[str], step: float = STEP) -> SteppedModel:
    """Round a model; n-grams with words that are not ``kept`` are left out.

    The starts and ends of sentences stay. Costs above what an image can say are limited to it.
    Raises GraphSourceError for a step that `require_step` refuses.
    """
    require_step(step)
    return _Rounding(arpa, kept, step).model()


@dataclass(frozen=True, eq=False)
class _Rows:
    """N-grams of one order: words (N, order), costs (N,) and back-offs (N,) in steps."""

    words: Ints
    costs: Longs
    back_offs: Longs


class _Rounding:
    def __init__(self, arpa: Arpa, kept: Collection[str], step: float) -> None:
        self._arpa = arpa
        self._step = step
        by_text = {word: i for i, word in enumerate(arpa.words)}
        self._start = by_text.get(SENTENCE_START, ABSENT)
        self._end = by_text.get(SENTENCE_END, ABSENT)
        self._kept = np.zeros(len(arpa.words), bool)
        self._kept[[by_text[word] for word in kept if word in by_text]] = True
        self._unknown = [by_text[word] for word in UNKNOWN_WORDS if word in by_text]

    def model(self) -> SteppedModel:
        rows = [self._rounded(ngrams, n) for n, ngrams in enumerate(self._arpa.orders, start=1)]
        listed = sum(len(each.words) for each in rows)
        for n in range(len(rows), 2, -1):
            rows[n - 2] = _with_ends(rows[n - 2], rows[n - 1].words)
        levels = [root(len(self._arpa.words))]
        costs, back_offs = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
        for each in map(_sorted, rows):
            level = _level(levels, each.words)
            by_back_off = back_offs[-1][level.contexts] + costs[-1][level.suffixes]
            lacking = np.clip(by_back_off, 0, self._most(NEVER))
            costs.append(np.where(each.costs == LACKING, lacking, each.costs))
            levels.append(level)
            back_offs.append(each.back_offs)
        return SteppedModel(
            self._arpa.words, levels, costs, back_offs[:-1], self._step, self._start, self._end,
            self._unknown_cost(levels[1], costs[1]), listed,
        )  # fmt: skip

    def _rounded(self, ngrams: dict[tuple[int, ...], NGram], order: int) -> _Rows:
        size = len(ngrams)
        words = np.fromiter(chain.from_iterable(ngrams), np.int32, size * order)
        logs = np.fromiter(chain.from_iterable(ngrams.values()), np.float64, 2 * size)
        words, logs = words.reshape(size, order), logs.reshape(size, 2)
        usable = self._usable(words)
        words, logs = words[usable], logs[usable]
        costs, back_offs = self._steps(logs[:, 0], 0, NEVER), self._back_offs(logs[:, 1])
        # After the end of a sentence nothing is forgotten.
        back_offs[words[:, -1] == self._end] = 0
        return _Rows(words, costs, back_offs)

    def _usable(self, words: Ints) -> Mask:
        first, last = words[:, 0], words[:, -1]
        if words.shape[1] == 1:
            alone: Mask = self._kept[last] | (last == self._start) | (last == self._end)
            return alone
        usable: Mask = self._kept[last] | (last == self._end)
        usable &= self._kept[first] | (first == self._start)
        usable &= self._kept[words[:, 1:-1]].all(axis=1)
        return usable

    def _back_offs(self, logs: npt.NDArray[np.float64]) -> Longs:
        # A gain that is rounded is still one that ARPA files may have.
        most_gain = math.floor(MOST_LOG10_BACK_OFF * NATS * COST_STEPS)
        return self._steps(logs, most_gain, MOST_BACK_OFF)

    def _steps(self, logs: npt.NDArray[np.float64], most_gain: int, most: int) -> Longs:
        """Logarithms as costs; the limits are an image's steps."""
        steps = np.rint(logs * (-NATS / self._step))
        return np.clip(steps, -self._most(most_gain), self._most(most)).astype(np.int64)

    def _most(self, image_steps: int) -> int:
        return math.floor(image_steps / COST_STEPS / self._step)

    def _unknown_cost(self, words: Level, costs: Longs) -> int:
        unigrams = self._arpa.orders[0]
        given = [-unigrams[(word,)].log10_prob * NATS / self._step for word in self._unknown]
        if given:
            return round(min(given))
        return int(costs[self._kept[words.words]].max(initial=0))


def _with_ends(below: _Rows, longer: Ints) -> _Rows:
    """The order below, with what longer n-grams begin and end with."""
    needed = np.concatenate((longer[:, :-1], longer[:, 1:]))
    lacking = np.full(len(needed), LACKING)
    words = np.concatenate((below.words, needed))
    costs = np.concatenate((below.costs, lacking))
    back_offs = np.concatenate((below.back_offs, np.zeros(len(needed), np.int64)))
    # Of the same words those come first that have a cost.
    order = np.lexsort((costs, *words.T[::-1]))
    ordered = words[order]
    first = np.ones(len(order), bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    order = order[first]
    return _Rows(words[order], costs[order], back_offs[order])


def _sorted(rows: _Rows) -> _Rows:
    order = np.lexsort(rows.words.T[::-1])
    return _Rows(rows.words[order], rows.costs[order], rows.back_offs[order])


def _level(below: Sequence[Level], words: Ints) -> Level:
    """The level above those below, of sorted n-grams whose contexts and suffixes are there."""
    last = np.ascontiguousarray(words[:, -1])
    return Level(
        below[0].vocab_size, _found(below, words[:, :-1]), last, _found(below, words[:, 1:])
    )


def _found(levels: Sequence[Level], words: Ints) -> Ints:
    rows = np.zeros(len(words), np.int32)
    for level, column in zip(levels[1:], words.T, strict=True):
        rows = level.find(rows, np.ascontiguousarray(column))
    return rows
