"""Weights put into a network that was laid out without memory."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from earshot.models.checkpoints.tensor_check import check_tensors


def fill(network: nn.Module, weights: Mapping[str, Tensor], *, given_up: bool = False) -> None:
    """Gives a network its weights, float32, and sets it to evaluation without gradients.

    given_up: nobody else uses the weights, so that those need not be copied which are as they
    should be.

    Raises MissingKeys, UnknownKeys, ShapeMismatch, UnusableNumbers or DamagedWeights unless they
    are what the network wants.
    """
    check_tensors(network.state_dict(), weights)
    taken: set[int] = set()
    ready = {
        key: _as_parameter(tensor, is_free=given_up and _is_free(tensor, taken))
        for key, tensor in weights.items()
    }
    network.load_state_dict(ready, assign=True)
    network.eval().requires_grad_(False)


def _is_free(tensor: Tensor, taken: set[int]) -> bool:
    """Whether a tensor has memory of its own, whose address is not among those taken."""
    storage = tensor.untyped_storage()
    is_first = storage.data_ptr() not in taken
    taken.add(storage.data_ptr())
    return is_first and storage.nbytes() == tensor.nbytes


def _as_parameter(tensor: Tensor, *, is_free: bool) -> Tensor:
    """A float32 tensor that owns its memory; BatchNorm's counter, the only scalar, as an integer.

    is_free: the memory may be the given one. Averaging checkpoints leaves the counter a fraction.
    """
    if tensor.dim() == 0:
        return tensor.to(torch.int64)
    return tensor.to(torch.float32, copy=not is_free).contiguous()
