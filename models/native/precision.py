"""What native linear layers multiply: float32, or weights and inputs in fewer bits.

In bfloat16 (`native/csrc/dense/bfloat16.h`) weights that were stored as int8 a row stay int8
(`native/csrc/dense/int8_rows.h`); sums are float32. In int8 (`native/csrc/dense/int8_products.h`)
inputs are whole numbers as well, of up to 16 bits, with a scale for each row; so are sums. What is
no linear layer is float32 in all.
Without torch: settings are read from here.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Precision: TypeAlias = Literal["float32", "bfloat16", "int8"]
"""A layer's."""

PrecisionChoice: TypeAlias = Literal["auto", "float32", "bfloat16", "int8"]
"""An operator's."""
