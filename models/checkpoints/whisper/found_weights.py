"""Weights as a reader of some format hands them on, before anybody has checked them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from earshot.models.checkpoints.tensor_check import FLOATS
from earshot.models.errors import CheckpointError, UnusableNumbers


@dataclass(frozen=True)
class FoundWeights:
    """Tensors under OpenAI's names, of any type and shape.

    stated: what the file says of its sizes, by the names of WhisperDims's fields.
    """

    tensors: Mapping[str, Tensor]
    stated: Mapping[str, int] = field(default_factory=dict)


def take_projection(weights: dict[str, Tensor], projection: str, tokens: str) -> None:
    """Remove the decoder's output, which is the table of tokens once more in every Whisper.

    Raises CheckpointError for one that differs, UnusableNumbers for types that do not compare.
    """
    found = weights.pop(projection, None)
    if found is None or tokens not in weights:
        return
    for name, weight in ((projection, found), (tokens, weights[tokens])):
        if weight.dtype not in FLOATS:
            raise UnusableNumbers(f"{name} holds {weight.dtype}, which no network of ours takes")
    if not torch.equal(found, weights[tokens]):
        raise CheckpointError(f"{projection} differs from {tokens}, and is the same in a Whisper")
