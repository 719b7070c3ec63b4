"""What native linear layers multiply: float32, or weights and inputs in fewer bits.

In bfloat16 (`native/csrc/dense/bfloat16.h`) weights that were stored as int8 a row stay int8
(`native/csrc/dense/int8_rows.h`); sums are float32. In int8 and w8a8
(`native/csrc/dense/int8_products.h`) weights are int8 with a scale for each output, and inputs are
whole numbers as well, with a scale for each row: of up to 16 bits in int8, of 8 in w8a8. So are
sums. What is no linear layer is float32 in all.
Without torch: settings are read from here.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Precision: TypeAlias = Literal["float32", "bfloat16", "int8", "w8a8"]
"""A layer's."""

PrecisionChoice: TypeAlias = Literal["auto", "float32", "bfloat16", "int8", "w8a8"]
"""An operator's."""
