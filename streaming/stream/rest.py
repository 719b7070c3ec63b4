"""Encoded frames behind the end of a segment: the next one's, in a stream whose encoder goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Rest:
    """encoded `(T, D)`, output: see `Lane`; of these frames alone. There are some."""

    encoded: Tensor
    output: Any = None

    @property
    def frames(self) -> int:
        """T."""
        return len(self.encoded)
