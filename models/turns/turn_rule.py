"""How likely a speaker has finished, by the words, the pause behind them, and how they sounded.

    ln P(over) / P(not over) = bias + end * ln P(</s> | words) + pause * ln(pause / 300 ms) + sound

The second term is a language model's: who has said "can I have a" goes on, however long it takes.
The last one is a head's (`turn_head.py`), 0 where there is none. The weights here are of a rule
without one; they were fitted to pauses in training recordings (docs/decisions/0185-turns.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

REFERENCE_MS = 300.0
LEAST_LOG_PROB = -12.0
"""What an end counts at least: no text is so strange that nobody would stop there."""
LONGEST = 10.0
"""Of ln(pause / 300 ms): nobody waits for two hours."""


@dataclass(frozen=True)
class TurnRule:
    """The weights; `pause` is above 0."""

    bias: float = 0.71
    end: float = 0.33
    pause: float = 1.03

    def confidence(self, end_log_prob: float, pause_ms: float, sound: float = 0.0) -> float:
        """P(over) after a pause, with what the language model gives to an end of the text."""
        odds = self._odds(end_log_prob, sound) + self.pause * log_pause(pause_ms)
        return 1 / (1 + math.exp(-odds))

    def pause_ms(self, end_log_prob: float, confidence: float, sound: float = 0.0) -> float:
        """The pause from which on P(over) is at least `confidence`, in (0, 1]; none is 1."""
        if confidence == 1:
            return math.inf
        wanted = math.log(confidence / (1 - confidence))
        steps = (wanted - self._odds(end_log_prob, sound)) / self.pause
        return REFERENCE_MS * math.exp(min(steps, LONGEST))

    def _odds(self, end_log_prob: float, sound: float) -> float:
        return self.bias + self.end * max(end_log_prob, LEAST_LOG_PROB) + sound


def log_pause(pause_ms: float) -> float:
    """How much longer it is than the one that rules are given for."""
    return math.log(max(pause_ms, 1) / REFERENCE_MS)
