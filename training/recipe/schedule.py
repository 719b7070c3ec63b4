"""Learning rate over the run: linear warm-up, plateau, linear decay to zero."""

from __future__ import annotations

from typing import Protocol


class Schedule(Protocol):
    """Updates, and the rate between them. A recipe's optimiser has one."""

    @property
    def peak_rate(self) -> float:
        """The learning rate of the plateau."""

    @property
    def warmup_steps(self) -> int:
        """Updates before it."""

    @property
    def decay_from_step(self) -> int:
        """Its end."""

    @property
    def total_steps(self) -> int:
        """Where the rate is zero."""


def learning_rate(step: int, config: Schedule) -> float:
    """The rate of update `step` (0 is the first).

    The plateau lets a run be lengthened or cut short after it has started: only the decay needs to
    know the end. It is linear, which Defazio 2023 (section 4) found best among simple schedules.
    """
    if step < config.warmup_steps:
        return config.peak_rate * (step + 1) / config.warmup_steps
    if step < config.decay_from_step:
        return config.peak_rate
    left = config.total_steps - step
    return config.peak_rate * max(0.0, left / (config.total_steps - config.decay_from_step))
