"""How good confidences are: whether they are true, and whether they tell right from wrong."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

LEAST = 0.001
"""Confidences are taken to lie at least so far from 0 and 1: a sure error would cost infinity."""


class Words:
    """Confidences of words, and whether the words are right."""

    def __init__(self) -> None:
        self._confidences: list[float] = []
        self._right: list[bool] = []

    def take(self, confidences: Sequence[float], right: Sequence[bool]) -> None:
        """Those of one hypothesis."""
        self._confidences.extend(confidences)
        self._right.extend(right)

    def times(self, factor: float) -> "Words":
        """With all confidences multiplied."""
        words = Words()
        words.take([factor * confidence for confidence in self._confidences], self._right)
        return words

    @property
    def confidences(self) -> npt.NDArray[np.float64]:
        """Within `LEAST` of 0 and 1."""
        return np.clip(self._confidences, LEAST, 1 - LEAST)

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """As booleans."""
        return np.array(self._right)

    def cross_entropy_gain(self) -> float:
        """Normalised cross entropy."""
        share = self.right.mean()
        if share in (0.0, 1.0):
            return math.nan
        chance = -(share * math.log2(share) + (1 - share) * math.log2(1 - share))
        said = np.where(self.right, self.confidences, 1 - self.confidences)
        return float((chance + np.log2(said).mean()) / chance)

    def bins(self, count: int = 10) -> list[tuple[int, float, float]]:
        """By tenths of confidence: words, mean confidence, share that is right."""
        places = np.minimum((self.confidences * count).astype(int), count - 1)
        chosen = [places == place for place in range(count)]
        return [
            (int(c.sum()), float(self.confidences[c].mean()), float(self.right[c].mean()))
            if c.any()
            else (0, math.nan, math.nan)
            for c in chosen
        ]

    def calibration_error(self) -> float:
        """How far confidence and accuracy lie apart, on average over the bins' words."""
        return sum(n * abs(said - so) for n, said, so in self.bins() if n) / len(self.right)

    def ranking(self) -> float:
        """How often a right word has more confidence than a wrong one (area under the curve).

        Not a number where all are right, or all wrong.
        """
        ordered = np.sort(self.confidences)
        below = np.searchsorted(ordered, self.confidences, "left")
        upto = np.searchsorted(ordered, self.confidences, "right")
        ranks = (below + upto + 1) / 2
        right, wrong = int(self.right.sum()), int((~self.right).sum())
        if not right or not wrong:
            return math.nan
        return float((ranks[self.right].sum() - right * (right + 1) / 2) / (right * wrong))

    def row(self) -> list[str]:
        """Words, share right, and the three measures."""
        return [
            str(len(self.right)),
            f"{100 * self.right.mean():.1f}",
            *map(_measure, (self.cross_entropy_gain(), self.calibration_error(), self.ranking())),
        ]


def _measure(value: float) -> str:
    """A number for a table; nothing where there is none, as where all words are right."""
    return "" if math.isnan(value) else f"{value:.3f}"
