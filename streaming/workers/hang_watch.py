"""When an engine counts as late, and when as hung: judged by its signs of life."""

import time
from collections.abc import Callable

from earshot.streaming.workers.heartbeat import Signs

LOOK_S = 0.25
"""Between two looks at an engine."""
LATE_S = 5.0
"""Without a sign of life although work waits: nobody new is let in until the next one."""
HUNG_S = 30.0
"""The same: the engine is given up, its process killed."""


class HangWatch:
    """Judges one engine; `look` at it about every `LOOK_S`.

    Seconds of silence are counted only as far as this process was there to hear: a look that comes
    late adds two intervals at most. Where everything has stood still, as in a virtual machine that
    was paused, nobody has been silent.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looked_at = clock()
        self._last: Signs | None = None
        self._main_s = self._engine_s = 0.0

    def look(self, signs: Signs, work_waits: bool) -> None:
        """Take note of how the engine stands.

        work_waits: requests that it has not taken, or audio that it has not decoded. The main
        thread owes turns while there is work; the engine's thread owes beats while it is busy.
        """
        now_s = self._clock()
        heard_s = min(now_s - self._looked_at, 2 * LOOK_S)
        self._looked_at = now_s
        last, self._last = self._last or signs, signs
        turned = signs.turns != last.turns or not (work_waits or signs.busy)
        beaten = signs.beats != last.beats or not signs.busy
        self._main_s = 0.0 if turned else self._main_s + heard_s
        self._engine_s = 0.0 if beaten else self._engine_s + heard_s

    @property
    def late(self) -> bool:
        """Whether it has been silent for LATE_S."""
        return max(self._main_s, self._engine_s) >= LATE_S

    @property
    def hung(self) -> bool:
        """Whether it has been silent for HUNG_S."""
        return max(self._main_s, self._engine_s) >= HUNG_S
