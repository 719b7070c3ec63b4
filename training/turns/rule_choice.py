"""Chooses how much a head's sound and the end of a text shorten the pause that ends a turn.

    ln(pause / 300 ms) = base - sound_share * sound - end_share * ln P(</s> | words)

is the rule of `turn_rule.py` at one confidence. Fitted weights say how likely a turn is over in
recordings that the encoder has learnt from, and it knows where those end. Chosen is what has turns
end soonest, of a few shares, with no more of them cut than one silence cuts: on other recordings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt
import torch

from earshot.models.turns.turn_head import TurnHead
from earshot.models.turns.turn_rule import LEAST_LOG_PROB, TurnRule, log_pause
from earshot.training.turns.turn_fit import HeardPause, check_kinds

Floats = npt.NDArray[np.float64]

SOUND_SHARES = (0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
END_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
CONFIDENCE = 0.75
"""At which turns are cut no more often than by `SILENCE_MS` for all: what a request asks for."""
SILENCE_MS = 1000
LEAST_MS, MOST_MS = 300, 1400
"""The pauses that a request allows where it names none."""
LEAST_BASE = -100.0
"""Below that of every pause that is ever long enough."""
ABOVE = 1e-9
"""Added where one more pause would be cut: what rounding does not take away."""


def with_chosen_rule(head: TurnHead, pauses: Sequence[HeardPause]) -> TurnHead:
    """The head, with the rule by which those pauses end soonest.

    Raises TrainingError where there are not both ends and pauses inside.
    """
    check_kinds(pauses)
    sounds = sounds_of(head, pauses)
    shares = product(SOUND_SHARES, END_SHARES)
    rules = [_rule(pauses, sounds, sound, end) for sound, end in shares]
    waits = [_mean_wait_ms(pauses, needed_ms(pauses, rule, CONFIDENCE, sounds)) for rule in rules]
    return replace(head, rule=rules[int(np.argmin(waits))])


def sounds_of(head: TurnHead, pauses: Sequence[HeardPause]) -> list[float]:
    """What a head hears in each of them."""
    return head.sounds(torch.stack([pause.stretches for pause in pauses]))


def needed_ms(
    pauses: Sequence[HeardPause], rule: TurnRule, confidence: float, sounds: Sequence[float]
) -> Floats:
    """How long each pause `(N,)` has to be, within its limits."""
    asked = [
        rule.pause_ms(pause.end_log_prob, confidence, sound)
        for pause, sound in zip(pauses, sounds, strict=True)
    ]
    return np.clip(asked, LEAST_MS, MOST_MS)


def share_cut(pauses: Sequence[HeardPause], needed: Floats) -> float:
    """The share of pauses inside utterances that would end them."""
    pairs = zip(pauses, needed, strict=True)
    return float(np.mean([pause.length_ms >= ms for pause, ms in pairs if not pause.is_end]))


def _mean_wait_ms(pauses: Sequence[HeardPause], needed: Floats) -> float:
    """The mean pause at ends, each corpus as much as any other."""
    ends = [(pause.corpus, ms) for pause, ms in zip(pauses, needed, strict=True) if pause.is_end]
    corpora = {corpus for corpus, _ in ends}
    return float(np.mean([np.mean([ms for own, ms in ends if own == each]) for each in corpora]))


def _rule(
    pauses: Sequence[HeardPause], sounds: Sequence[float], sound_share: float, end_share: float
) -> TurnRule:
    """The quickest rule of such shares with which no more is cut than by silence alone."""
    inside = [pair for pair in zip(pauses, sounds, strict=True) if not pair[0].is_end]
    cut_by_silence = sum(pause.length_ms >= SILENCE_MS for pause, _ in inside)
    least = sorted(
        _least_base(pause) + sound_share * sound + end_share * _end(pause)
        for pause, sound in inside
    )
    base = [LEAST_BASE, *least][-1 - cut_by_silence] + ABOVE
    asked = math.log(CONFIDENCE / (1 - CONFIDENCE))
    return TurnRule(asked - base / sound_share, end_share / sound_share, 1 / sound_share)


def _least_base(pause: HeardPause) -> float:
    """The `base` above which a pause inside is not cut, were sound and words to say nothing."""
    if pause.length_ms >= MOST_MS:
        return math.inf
    return log_pause(pause.length_ms) if pause.length_ms >= LEAST_MS else LEAST_BASE


def _end(pause: HeardPause) -> float:
    return max(pause.end_log_prob, LEAST_LOG_PROB)
