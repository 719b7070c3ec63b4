"""What a factored time-delay network is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from earshot.models.errors import ConfigError

MAX_SIZE = 16_384
MAX_LAYERS = 256


@dataclass(frozen=True)
class TdnnfConfig:
    """Layers on frames of 10 ms, then layers on frames of 30 ms (Povey 2018, section 3).

    Each layer sees one of its own frames to the left and one to the right, so the whole network
    looks `10 + 10 * fast_layers + 30 * slow_layers` ms ahead, whatever the chunk.
    """

    kind: Literal["tdnnf"] = "tdnnf"
    input_dim: int = 80
    output_size: int = 192
    hidden_size: int = 640
    bottleneck: int = 96
    fast_layers: int = 2
    slow_layers: int = 10
    bypass_scale: float = 0.66
    dropout_rate: float = 0.0

    def __post_init__(self) -> None:
        for name in ("input_dim", "output_size", "hidden_size", "bottleneck"):
            self._require_integer(name, 1, MAX_SIZE)
        for name in ("fast_layers", "slow_layers"):
            self._require_integer(name, 1, MAX_LAYERS)
        if self.kind != "tdnnf":
            raise ConfigError(f"kind={self.kind!r} is not tdnnf")
        if self.output_size % 2:
            raise ConfigError("output_size must be even")
        if not (0.0 <= self.bypass_scale <= 1.0 and 0.0 <= self.dropout_rate <= 0.99):
            raise ConfigError("bypass_scale is within 0..1 and dropout_rate within 0..0.99")

    def _require_integer(self, name: str, low: int, high: int) -> None:
        value = getattr(self, name)
        if type(value) is not int or not low <= value <= high:
            raise ConfigError(f"{name}={value!r} is not a whole number within {low}..{high}")

    @property
    def encoded_size(self) -> int:
        """Width of the frames that are put out."""
        return self.output_size

    @property
    def streamable(self) -> bool:
        """Always: context is bounded on both sides."""
        return True
