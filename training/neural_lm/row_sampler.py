"""Rows of text for the updates of a run: the same for the same update, however often it stops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from earshot.training.neural_lm.token_text import END, TokenArray


class RowSampler:
    """Rows of `length` tokens that begin where a sentence does; each with what follows."""

    def __init__(
        self, arrays: Sequence[TokenArray], shares: Sequence[float], length: int, seed: int
    ) -> None:
        self._arrays = arrays
        self._shares = np.array(shares) / sum(shares)
        self._length = length
        self._seed = seed
        self._starts = [self._starts_of(array) for array in arrays]

    def _starts_of(self, array: TokenArray) -> np.ndarray:
        last = len(array) - self._length - 1
        starts = np.flatnonzero(array[: last + 1] == END)
        return starts if len(starts) else np.array([0])

    def rows(self, step: int, count: int) -> tuple[Tensor, Tensor]:
        """Tokens `(count, length)` of update `step`, and those that follow each."""
        rng = np.random.default_rng((self._seed, step))
        drawn = np.stack([self._row(rng) for _ in range(count)])
        rows = torch.from_numpy(drawn.astype(np.int64))
        return rows[:, :-1], rows[:, 1:]

    def _row(self, rng: np.random.Generator) -> TokenArray:
        text = rng.choice(len(self._arrays), p=self._shares)
        starts = self._starts[text]
        first = starts[rng.integers(len(starts))]
        return self._arrays[text][first : first + self._length + 1]
