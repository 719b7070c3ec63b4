"""The end of a run that is borrowed by the minute."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Deadline:
    """`seconds` from now, the last `cooling_s` of which let the learning rate fall to nothing.

    A schedule counts updates, and nobody knows how many a strange machine makes in its minutes.
    """

    seconds: float = math.inf
    cooling_s: float = 0.0
    clock: Callable[[], float] = time.monotonic
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_started", self.clock())

    @property
    def left_s(self) -> float:
        """Seconds to go, 0 when they are over."""
        return max(0.0, self._started + self.seconds - self.clock())

    @property
    def passed(self) -> bool:
        """Whether it is time to stop."""
        return self.left_s == 0.0

    @property
    def rate_share(self) -> float:
        """What is left of the learning rate: 1 until cooling begins, 0 at the end."""
        return min(1.0, self.left_s / self.cooling_s) if self.cooling_s > 0 else 1.0
