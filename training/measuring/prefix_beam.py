"""CTC prefix beam search in plain Python, for measuring models without the decoding kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

NEVER = -math.inf


@dataclass(frozen=True)
class Prefix:
    """A token sequence and the log-probability of all its alignments."""

    tokens: tuple[int, ...]
    score: float


def log_add(a: float, b: float) -> float:
    """log(exp a + exp b)."""
    high, low = max(a, b), min(a, b)
    return high if low == NEVER else high + math.log1p(math.exp(low - high))


Beam = dict[tuple[int, ...], tuple[float, float]]  # prefix: score ending in blank, in a token


def _extend(beam: Beam, candidates: Sequence[tuple[int, float]], blank_id: int) -> Beam:
    """All possible prefixes that one frame makes of a beam."""
    found: Beam = {}

    def add(prefix: tuple[int, ...], blank: float, token: float) -> None:
        old_blank, old_token = found.get(prefix, (NEVER, NEVER))
        found[prefix] = (log_add(old_blank, blank), log_add(old_token, token))

    for prefix, (blank, token) in beam.items():
        either = log_add(blank, token)
        for unit, log_prob in candidates:
            if unit == blank_id:
                add(prefix, either + log_prob, NEVER)
            elif prefix and prefix[-1] == unit:
                add(prefix, NEVER, token + log_prob)
                add((*prefix, unit), NEVER, blank + log_prob)
            else:
                add((*prefix, unit), NEVER, either + log_prob)
    return {prefix: scores for prefix, scores in found.items() if scores != (NEVER, NEVER)}


def prefix_beam_search(log_probs: Tensor, beam_size: int, blank_id: int) -> list[Prefix]:
    """The best prefixes of one utterance `(T, V)`, best first (Hannun 2014, WeNet's pruning).

    Every frame offers its `beam_size` likeliest units and keeps `beam_size` prefixes.
    """
    values, units = log_probs.topk(min(beam_size, log_probs.size(1)), dim=1)
    beam: Beam = {(): (0.0, NEVER)}
    for row_values, row_units in zip(values.tolist(), units.tolist(), strict=True):
        found = _extend(beam, list(zip(row_units, row_values, strict=True)), blank_id)
        ranked = sorted(found.items(), key=lambda item: log_add(*item[1]), reverse=True)
        beam = dict(ranked[:beam_size])
    return [Prefix(tokens, log_add(*scores)) for tokens, scores in beam.items()]
