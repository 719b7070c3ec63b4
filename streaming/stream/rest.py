"""The frames behind the end of a segment, which are the next one's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Rest:
    """Frames that are encoded already, in a stream whose encoder goes on. There are some.

    encoded `(T, D)`, output: see `Lane`; of these frames alone.
    """

    encoded: Tensor
    output: Any = None

    @property
    def frames(self) -> int:
        """T."""
        return len(self.encoded)


@dataclass(frozen=True, eq=False)
class Division:
    """Where a segment ends: at the frame `boundary`, with a rest from there on, if any."""

    boundary: int
    rest: Rest | None = None
