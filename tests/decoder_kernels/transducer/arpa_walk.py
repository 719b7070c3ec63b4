"""A back-off n-gram over a model's labels in plain Python: what a label costs after others."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from earshot.language.ngrams.arpa import SENTENCE_START, Arpa

MISSING = -99.0
"""Log10 of what the model neither has nor has an unknown word for."""


class ArpaWalk:
    """labels: the spelling of each of the V labels in the model.

    A context is the labels that were said, the model's own start before them.
    """

    def __init__(self, arpa: Arpa, labels: Sequence[str]) -> None:
        self._arpa = arpa
        self._ids = {word: number for number, word in enumerate(arpa.words)}
        self._labels = [self._ids.get(each, self._ids.get("<unk>", -1)) for each in labels]
        self._known: dict[tuple[int, ...], Tensor] = {}

    def scores(self, said: Sequence[int]) -> Tensor:
        """The natural log-probability `(V,)` of each label after those that were said."""
        words = (self._ids[SENTENCE_START], *(self._labels[label] for label in said))
        context = words[len(words) - min(len(words), self._arpa.order - 1) :]
        if context not in self._known:
            logs = [self._log10(context, label) for label in self._labels]
            self._known[context] = torch.tensor(logs, dtype=torch.float64) * math.log(10)
        return self._known[context]

    def _log10(self, context: tuple[int, ...], word: int) -> float:
        """Katz 1987, equation 6: the longest n-gram that is known, or the back-off to a shorter."""
        found = self._arpa.orders[len(context)].get((*context, word))
        if found is not None:
            return found.log10_prob
        if not context:
            return MISSING
        kept = self._arpa.orders[len(context) - 1].get(context)
        return (kept.log10_back_off if kept else 0.0) + self._log10(context[1:], word)
