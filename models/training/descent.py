"""One step against a gradient."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn


def descend(
    optimiser: torch.optim.Optimizer,
    parameters: Iterable[nn.Parameter],
    loss: Tensor,
    rate: float,
    max_norm: float,
) -> float:
    """Take it at a learning rate; returns the gradient's norm before it was clipped.

    A gradient that is not finite is left out, as WeNet does.
    """
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad(set_to_none=True)
    torch.autograd.backward(loss)
    norm = float(nn.utils.clip_grad_norm_(parameters, max_norm))
    if math.isfinite(norm):
        optimiser.step()
    return norm
