"""Chooses how much a head's sound and the end of a text shorten the pause that ends a turn.

    ln(pause / 300 ms) = base - sound_share * sound - end_share * ln P(</s> | words)

is the rule of `turn_rule.py` at one confidence. Fitted weights say how likely a turn is over in
recordings that the encoder has learnt from, and it knows where those end. Chosen is what has turns
end soonest, of a few shares, with no more of them cut than one silence cuts: on other recordings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt
import torch

from earshot.models.turns.turn_head import TurnHead
from earshot.models.turns.turn_rule import LEAST_LOG_PROB, LONGEST, REFERENCE_MS, TurnRule
from earshot.training.turns.turn_fit import HeardPause, check_kinds

Floats = npt.NDArray[np.float64]

SOUND_SHARES = (0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
END_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
CONFIDENCE = 0.75
"""At which turns are cut no more often than by `SILENCE_MS` for all: what a request asks for."""
SILENCE_MS = 1000
LEAST_MS, MOST_MS = 300, 1400
BASES = (-60.0, 60.0)
HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Judged:
    """Pauses as columns `(N,)`."""

    corpora: Sequence[str]
    sounds: Floats
    ends: Floats
    lengths_ms: Floats
    is_end: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, head: TurnHead, pauses: Sequence[HeardPause]) -> Judged:
        """The columns of pauses as a head hears them."""
        return cls(
            [pause.corpus for pause in pauses],
            np.array(head.sounds(torch.stack([pause.stretches for pause in pauses]))),
            np.array([max(pause.end_log_prob, LEAST_LOG_PROB) for pause in pauses]),
            np.array([pause.length_ms for pause in pauses]),
            np.array([pause.is_end for pause in pauses]),
        )

    def needed_ms(self, sound_share: float, end_share: float, base: float) -> Floats:
        """How long each pause has to be, within its limits."""
        steps = base - sound_share * self.sounds - end_share * self.ends
        return np.clip(REFERENCE_MS * np.exp(np.minimum(steps, LONGEST)), LEAST_MS, MOST_MS)

    def cuts(self, needed_ms: Floats | float) -> float:
        """The share of pauses inside utterances that end them."""
        return float((self.lengths_ms >= needed_ms)[~self.is_end].mean())

    def wait_ms(self, needed_ms: Floats) -> float:
        """The mean pause at ends, each corpus as much as any other."""
        corpora = np.array(self.corpora)
        own = [needed_ms[self.is_end & (corpora == name)] for name in set(self.corpora)]
        return float(np.mean([each.mean() for each in own if len(each)]))

    def base(self, sound_share: float, end_share: float) -> float:
        """The least with which no more is cut than by silence alone."""
        most = self.cuts(SILENCE_MS)
        low, high = BASES
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            is_over = self.cuts(self.needed_ms(sound_share, end_share, middle)) > most
            low, high = (middle, high) if is_over else (low, middle)
        return high


def with_chosen_rule(head: TurnHead, pauses: Sequence[HeardPause]) -> TurnHead:
    """The head, with the rule by which those pauses end soonest.

    Raises TrainingError where there are not both ends and pauses inside.
    """
    check_kinds(pauses)
    judged = Judged.of(head, pauses)
    choices = [
        (sound, end, judged.base(sound, end)) for sound, end in product(SOUND_SHARES, END_SHARES)
    ]
    sound, end, base = min(choices, key=lambda choice: judged.wait_ms(judged.needed_ms(*choice)))
    asked = math.log(CONFIDENCE / (1 - CONFIDENCE))
    return replace(head, rule=TurnRule(asked - base / sound, end / sound, 1 / sound))
