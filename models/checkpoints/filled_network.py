"""Weights put into a network that was laid out without memory."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from earshot.models.checkpoints.tensor_check import check_tensors


def fill(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Gives a network its weights, float32, and sets it to evaluation without gradients.

    Raises MissingKeys, UnknownKeys, ShapeMismatch, UnusableNumbers or DamagedWeights unless they
    are what the network wants.
    """
    check_tensors(network.state_dict(), weights)
    ready = {key: _as_parameter(tensor) for key, tensor in weights.items()}
    network.load_state_dict(ready, assign=True)
    network.eval().requires_grad_(False)


def _as_parameter(tensor: Tensor) -> Tensor:
    """A float32 copy that owns its memory; BatchNorm's counter, the only scalar, as an integer.

    Averaging checkpoints leaves the counter a fraction.
    """
    if tensor.dim() == 0:
        return tensor.to(torch.int64)
    return tensor.to(torch.float32, copy=True).contiguous()
