"""How likely a speaker has finished, by the words and the pause behind them.

    ln P(over) / P(not over) = bias + end * ln P(</s> | words) + pause * ln(pause / 300 ms)

The middle term is a language model's: who has said "can I have a" goes on, however long it takes.
The weights were fitted to pauses in training recordings (`benchmarks/turns/pauses.py --fit`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

REFERENCE_MS = 300.0


@dataclass(frozen=True)
class TurnRule:
    """The weights."""

    bias: float = 0.71
    end: float = 0.33
    pause: float = 1.03

    def confidence(self, end_log_prob: float, pause_ms: float) -> float:
        """P(over) after a pause, with what the language model gives to an end of the text."""
        odds = self._text(end_log_prob) + self.pause * math.log(max(pause_ms, 1) / REFERENCE_MS)
        return 1 / (1 + math.exp(-odds))

    def pause_ms(self, end_log_prob: float, confidence: float) -> float:
        """The pause from which on P(over) is at least `confidence`, in (0, 1)."""
        wanted = math.log(confidence / (1 - confidence))
        steps = (wanted - self._text(end_log_prob)) / self.pause
        return REFERENCE_MS * math.exp(min(steps, 10.0))

    def _text(self, end_log_prob: float) -> float:
        return self.bias + self.end * max(end_log_prob, LEAST_LOG_PROB)


LEAST_LOG_PROB = -12.0
"""What an end counts at least: no text is so strange that nobody would stop there."""
