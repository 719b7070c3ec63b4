"""Learning rate over the run: linear warm-up, plateau, decay to zero."""

from __future__ import annotations

import math

from models.training.config import OptimiserConfig


def learning_rate(step: int, config: OptimiserConfig) -> float:
    """The rate of update `step` (0 is the first).

    The plateau lets a run be lengthened or cut short after it has started: only the decay, which
    is `1 - sqrt` as in Hägele 2024 (section 3.1), needs to know the end.
    """
    if step < config.warmup_steps:
        return config.peak_rate * (step + 1) / config.warmup_steps
    if step < config.decay_from_step:
        return config.peak_rate
    share = min(
        1.0, (step - config.decay_from_step) / (config.total_steps - config.decay_from_step)
    )
    return config.peak_rate * (1.0 - math.sqrt(share))
