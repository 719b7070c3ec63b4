"""Weights as a reader of some format hands them on, before anybody has checked them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class FoundWeights:
    """Tensors under OpenAI's names, of any type and shape.

    stated: what the file says of its sizes, by the names of WhisperDims's fields.
    """

    tensors: Mapping[str, Tensor]
    stated: Mapping[str, int] = field(default_factory=dict)
