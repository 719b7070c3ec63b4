"""The frames behind the end of a segment, which are the next one's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import torch
from torch import Tensor


class RestOutput(Protocol):
    """What a decoder has made of a rest, with tensors of its own."""

    def to(self, device: torch.device) -> Self:
        """The same on a device."""


@dataclass(frozen=True, eq=False)
class Rest:
    """Frames that are encoded already, in a stream whose encoder goes on. There are some.

    encoded `(T, D)`, output: see `Lane`; of these frames alone.
    """

    encoded: Tensor
    output: RestOutput | None = None

    @property
    def frames(self) -> int:
        """T."""
        return len(self.encoded)

    def to(self, device: torch.device) -> Rest:
        """The same on a device."""
        output = None if self.output is None else self.output.to(device)
        return Rest(self.encoded.to(device), output)


@dataclass(frozen=True, eq=False)
class Division:
    """Where a segment ends: at the frame `boundary`, with a rest from there on, if any."""

    boundary: int
    rest: Rest | None = None
