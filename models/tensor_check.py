"""Whether weights from a file are those that a network wants."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from models.errors import DamagedWeights, MissingKeys, ShapeMismatch, UnknownKeys


def check_tensors(expected: Mapping[str, Tensor], found: Mapping[str, Tensor]) -> None:
    """Raises MissingKeys, UnknownKeys or ShapeMismatch unless names and shapes agree.

    And DamagedWeights for what is no number: it would fail every stream, one by one.
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
        if not torch.isfinite(found[key]).all():
            raise DamagedWeights(key)
