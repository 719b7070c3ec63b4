"""What an objective makes of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Losses:
    """A differentiable sum, and what the log tells of its parts, by name."""

    total: Tensor
    parts: Mapping[str, float]
