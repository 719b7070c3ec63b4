"""Whether weights from a file are those that a network wants."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from earshot.models.errors import (
    DamagedWeights,
    MissingKeys,
    ShapeMismatch,
    UnknownKeys,
    UnusableNumbers,
)

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
COUNTS = (torch.int32, torch.int64, *FLOATS)  # averaging makes fractions of BatchNorm's counter

NEVER_NEGATIVE = ("running_var", "features.filters")
"""Their roots and logarithms would be no numbers, in every stream."""


def check_tensors(expected: Mapping[str, Tensor], found: Mapping[str, Tensor]) -> None:
    """Raises what `check_shapes` and `check_numbers` do."""
    check_shapes(expected, found)
    for key, tensor in found.items():
        check_numbers(key, tensor)


def check_shapes(expected: Mapping[str, Tensor], found: Mapping[str, Tensor]) -> None:
    """Raises MissingKeys, UnknownKeys or ShapeMismatch unless names and shapes agree.

    Raises UnusableNumbers for a floating-point tensor whose dtype is none of 16 bits or more.
    """
    if missing := expected.keys() - found.keys():
        raise MissingKeys(missing)
    if unknown := found.keys() - expected.keys():
        raise UnknownKeys(unknown)
    for key, tensor in expected.items():
        if found[key].shape != tensor.shape:
            raise ShapeMismatch(
                f"{key} is {tuple(found[key].shape)} in the file, "
                f"{tuple(tensor.shape)} in the configuration"
            )
        if found[key].dtype not in (FLOATS if tensor.is_floating_point() else COUNTS):
            raise UnusableNumbers(f"{key} holds {found[key].dtype}, which no network of ours takes")


def check_numbers(key: str, tensor: Tensor) -> None:
    """Raises DamagedWeights for NaN and infinity, which would fail every stream, one by one.

    And for numbers below zero in the tensor of a name that has none.
    """
    taken = tensor.float()
    if not _is_finite(taken):
        raise DamagedWeights(key)
    if key.endswith(NEVER_NEGATIVE) and bool((taken < 0).any()):
        raise DamagedWeights(key, "numbers below zero")


def _is_finite(tensor: Tensor) -> bool:
    """In one pass and without a second tensor, unlike torch.isfinite: NaN is both extremes."""
    return not tensor.numel() or all(map(math.isfinite, torch.aminmax(tensor)))
