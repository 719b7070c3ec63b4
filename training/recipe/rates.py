"""Names of a model's parts that may have learning rates of their own."""

from __future__ import annotations

from typing import Literal, TypeAlias

RateGroupName: TypeAlias = Literal["encoder", "heads", "decoder"]
