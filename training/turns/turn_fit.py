"""Fits a head that hears the ends of turns to pauses whose ends are known.

Logistic regression over the sound of a pause, the end of its text and how long it has lasted, at
each of some lengths that it has reached: that of an end never stops. In each corpus ends and pauses
inside weigh the same, so that nothing is learnt of how often its recordings end, or of which one
it is. Means and deviations scale what is fitted; the weights found are of frames as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.turns.turn_head import TurnHead
from earshot.models.turns.turn_rule import LEAST_LOG_PROB, TurnRule, log_pause
from earshot.training.errors import TrainingError

LENGTHS_MS = (200, 240, 320, 400, 520, 640, 800, 1000, 1300)
PENALTY = 0.2
"""On the squares of scaled weights; a quarter of the recordings was held out to choose it."""
LEAST_DEVIATION = 1e-3
MOST_STEPS = 300


@dataclass(frozen=True, eq=False)
class HeardPause:
    """stretches: `(S, D)`, see `stretches_of`. end_log_prob: of the text before it.

    length_ms: how long it was in the end. is_end: nothing was said behind it.
    """

    corpus: str
    stretches: Tensor
    end_log_prob: float
    length_ms: float
    is_end: bool


def fit_turn_head(pauses: Sequence[HeardPause], penalty: float = PENALTY) -> TurnHead:
    """Raises TrainingError where there are not both ends and pauses inside."""
    check_kinds(pauses)
    stretches = torch.stack([pause.stretches for pause in pauses])
    means = stretches.nanmean(dim=0).nan_to_num()
    away = (stretches - means).nan_to_num()
    deviations = away.square().mean(dim=0).sqrt().clamp(min=LEAST_DEVIATION)
    found = _fitted(pauses, (away / deviations).flatten(1), penalty)
    sound, (end, pause, bias) = found[:-3], found[-3:].tolist()
    return TurnHead(sound.view_as(deviations) / deviations, means, TurnRule(bias, end, pause))


def check_kinds(pauses: Sequence[HeardPause]) -> None:
    """Raises TrainingError where there are not both ends and pauses inside."""
    if len({pause.is_end for pause in pauses}) < 2:
        raise TrainingError("a head for the ends of turns wants ends, and pauses that are none")


def _fitted(pauses: Sequence[HeardPause], sounds: Tensor, penalty: float) -> Tensor:
    """Weights `(S * D + 3,)`: of the sound, of the text's end, of the pause; and the bias."""
    seen = [
        (row, length_ms)
        for row, pause in enumerate(pauses)
        for length_ms in LENGTHS_MS
        if pause.is_end or pause.length_ms >= length_ms
    ]
    rows = torch.tensor([row for row, _ in seen])
    lengths = torch.tensor([log_pause(length_ms) for _, length_ms in seen])
    ends = torch.tensor([max(pause.end_log_prob, LEAST_LOG_PROB) for pause in pauses])
    wanted = torch.tensor([float(pauses[row].is_end) for row, _ in seen])
    shares = _shares(pauses)[rows]
    weights = torch.zeros(sounds.shape[1] + 3, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=MOST_STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        end, pause, bias = weights[-3:]
        odds = (sounds @ weights[:-3] + end * ends + bias)[rows] + pause * lengths
        errors = functional.binary_cross_entropy_with_logits(odds, wanted, reduction="none")
        found = (errors * shares).sum() / shares.sum() + penalty * weights[:-2].square().sum()
        found.backward()  # type: ignore[no-untyped-call]
        return found.detach()

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    return weights.detach()


def _shares(pauses: Sequence[HeardPause]) -> Tensor:
    """How much each pause counts."""
    all_of = Counter(pause.corpus for pause in pauses)
    kinds = Counter((pause.corpus, pause.is_end) for pause in pauses)
    return torch.tensor([all_of[p.corpus] / kinds[p.corpus, p.is_end] for p in pauses])
