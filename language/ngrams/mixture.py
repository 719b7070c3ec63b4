"""Several models as one: linear interpolation with weights for each history.

A model counts after a history as much as its weight and as it has seen the history: what is said in
one domain alone is predicted by that domain's model, and common words by all (count merging,
Bacchiani et al. 2006; Hsu 2007).
"""

from collections.abc import Sequence

import numpy as np

from earshot.language.ngrams.counts import Floats, before, single_words
from earshot.language.ngrams.levels import Ints, Level, keys_of, root
from earshot.language.ngrams.model import NGramModel, normalizing_back_offs, take
from earshot.language.ngrams.text import START, Ids

STEPS = 600
RATE = 3.0
MOST_LOG_WEIGHT = 12.0


def mix(models: Sequence[NGramModel], weights: Sequence[float]) -> NGramModel:
    """One model with all n-grams of models over the same words, of the same order.

    ``weights`` are as if each text were so many times longer; those of a vanishing text are 0.
    """
    vocab_size = len(models[0].words)
    levels, probs = [root(vocab_size)], [np.ones(1)]
    rows = [np.zeros(1, np.int32) for _ in models]
    own = [np.ones(1) for _ in models]
    seen = [weight * model.counts[0] for model, weight in zip(models, weights, strict=True)]
    counts = [_sum(seen)]
    for n in range(1, models[0].order + 1):
        level, found = _union([model.levels[n] for model in models], rows, vocab_size)
        shares = _shares(seen, level)
        own = [
            _probs_in(model, n, level, below, here, lower)
            for model, below, here, lower in zip(models, rows, found, own, strict=True)
        ]
        probs.append(_sum([share * prob for share, prob in zip(shares, own, strict=True)]))
        seen = [
            weight * _spread(model.counts[n], here, len(level), 0.0)
            for model, here, weight in zip(models, found, weights, strict=True)
        ]
        levels.append(level)
        counts.append(_sum(seen))
        rows = found
    back_offs = normalizing_back_offs(levels, probs)
    return NGramModel(models[0].words, levels, probs, back_offs, counts)


def tune(models: Sequence[NGramModel], texts: Sequence[Ids]) -> list[float]:
    """Weights under which texts that no model has seen are likeliest.

    Every text counts as one sentence, the mean of its own: by words, single digits would count as
    much for what sentences begin with as whole books. The first weight is 1.
    """
    views = [_View.of(models, ids) for ids in texts]
    lengths = [(ids != START).sum() / (ids == START).sum() for ids in texts]
    logs = np.zeros(len(models))
    for _ in range(STEPS):
        gradients = [view.gradient(np.exp(logs)) for view in views]
        logs += RATE * np.average(gradients, axis=0, weights=lengths)
        logs = np.clip(logs - logs[0], -MOST_LOG_WEIGHT, MOST_LOG_WEIGHT)
    return [float(weight) for weight in np.exp(logs)]


class _View:
    """What the models say of a text: probabilities (J, T), and counts (J, T) of histories."""

    def __init__(self, probs: Floats, counts: Floats) -> None:
        self._probs = probs
        self._counts = counts

    @classmethod
    def of(cls, models: Sequence[NGramModel], ids: Ids) -> "_View":
        told = np.flatnonzero((ids >= 0) & (ids != START))
        probs = np.stack([model.token_probs(ids)[told] for model in models])
        counts = np.stack([model.counts[0].repeat(len(ids)) for model in models])
        ending = [single_words(ids) for _ in models]
        for n in range(1, models[0].order):
            contexts = [before(each) for each in ending]
            seen = np.stack(
                [take(model.counts[n], at, 0.0) for model, at in zip(models, contexts, strict=True)]
            )
            counts = np.where(seen.sum(axis=0) > 0, seen, counts)
            ending = [
                model.levels[n + 1].find(at, ids)
                for model, at in zip(models, contexts, strict=True)
            ]
        return cls(probs, counts[:, told])

    def gradient(self, weights: Floats) -> Floats:
        """(J,): of the mean log-probability, by the logarithms of the weights."""
        shares = weights[:, None] * self._counts
        shares /= shares.sum(axis=0)
        joint = shares * self._probs
        gradient: Floats = (joint / joint.sum(axis=0) - shares).mean(axis=1)
        return gradient


def _union(
    levels: Sequence[Level], rows: Sequence[Ints], vocab_size: int
) -> tuple[Level, list[Ints]]:
    """All n-grams of an order, and where those of each model are among them.

    ``rows`` says the same of the level below.
    """
    keys = [
        keys_of(below[level.contexts], level.words, vocab_size)
        for level, below in zip(levels, rows, strict=True)
    ]
    union = np.unique(np.concatenate(keys))
    found = [np.searchsorted(union, each).astype(np.int32) for each in keys]
    suffixes = np.empty(len(union), np.int32)
    for level, below, here in zip(levels, rows, found, strict=True):
        suffixes[here] = below[level.suffixes]
    contexts = (union // vocab_size).astype(np.int32)
    return Level(vocab_size, contexts, (union % vocab_size).astype(np.int32), suffixes), found


def _probs_in(
    model: NGramModel, n: int, level: Level, below: Ints, here: Ints, lower: Floats
) -> Floats:
    """What one model says of all n-grams of an order; ``lower`` of those of the order below."""
    back_offs = _spread(model.back_offs[n - 1], below, len(lower), 1.0)
    probs: Floats = back_offs[level.contexts] * lower[level.suffixes]
    probs[here] = model.probs[n]
    return probs


def _shares(seen: Sequence[Floats], level: Level) -> list[Floats]:
    """How much each model counts for each n-gram, by how often it has seen the history."""
    at = [each[level.contexts] for each in seen]
    total = _sum(at)
    return [each / total for each in at]


def _spread(values: Floats, rows: Ints, size: int, otherwise: float) -> Floats:
    spread = np.full(size, otherwise)
    spread[rows] = values
    return spread


def _sum(each: Sequence[Floats]) -> Floats:
    total: Floats = np.sum(each, axis=0)
    return total
