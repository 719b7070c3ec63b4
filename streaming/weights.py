"""How much each scorer of a hypothesis counts, by the name its recogniser gives it.

A U2 model's scorers are `ctc` (the first pass), `reverse` (the right-to-left decoder) and those
parts that rank hypotheses. Where a stream names none the engine's weight holds, then the model's.
"""

from collections.abc import Mapping
from typing import TypeAlias

from earshot.streaming.errors import InvalidStreamConfig

MAX_WEIGHT = 10.0

Weights: TypeAlias = Mapping[str, float]


def check_weights(weights: Weights) -> None:
    """Raises InvalidStreamConfig; written so that NaN fails."""
    for name, weight in weights.items():
        if not 0.0 <= weight <= MAX_WEIGHT:
            raise InvalidStreamConfig(f"{name}_weight is {weight}, must be 0 to {MAX_WEIGHT:g}")
