"""What native linear layers multiply: float32, or weights and inputs rounded to bfloat16.

Weights that were stored as int8 a row stay int8 there (`native/csrc/dense/int8_rows.h`). Sums are
float32 in both, and so is all that is no linear layer (`native/csrc/dense/bfloat16.h`).
Without torch: settings are read from here.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Precision: TypeAlias = Literal["float32", "bfloat16"]
"""A layer's."""

PrecisionChoice: TypeAlias = Literal["auto", "float32", "bfloat16"]
"""An operator's."""
