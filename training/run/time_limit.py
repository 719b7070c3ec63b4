"""How long a run may take now, and a learning rate that falls in time for it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class TimeLimit:
    """`seconds` from now, the last `cooling_s` of which let the learning rate fall to nothing.

    A schedule counts updates, and nobody knows beforehand how many a machine makes in an hour.
    """

    def __init__(
        self,
        seconds: float = math.inf,
        cooling_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._cooling_s = cooling_s
        self._end = clock() + seconds

    @property
    def left_s(self) -> float:
        """Seconds to go, 0 when they are over."""
        return max(0.0, self._end - self._clock())

    @property
    def passed(self) -> bool:
        """Whether it is time to stop."""
        return self.left_s == 0.0

    @property
    def rate_share(self) -> float:
        """The share of the learning rate: 1 until cooling begins, 0 at the end."""
        return min(1.0, self.left_s / self._cooling_s) if self._cooling_s > 0 else 1.0
