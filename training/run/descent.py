"""Steps against gradients, as long as those are numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from earshot.training.errors import Diverged

MOST_SKIPPED = 20  # updates in a row: more than bad luck with a batch
LARGEST = torch.finfo(torch.float16).max  # of weights: a model is exported in half precision


class Descent:
    """An optimiser's steps, with gradients clipped to the norm `max_norm`."""

    def __init__(
        self, optimiser: torch.optim.Optimizer, parameters: Iterable[nn.Parameter], max_norm: float
    ) -> None:
        self._optimiser = optimiser
        self._parameters = list(parameters)
        self._max_norm = max_norm
        self._skipped = 0

    def step(self, loss: Tensor, rate: float, shares: Sequence[float] = ()) -> float:
        """Takes one at a learning rate; returns the gradient's norm before it was clipped.

        shares: of the rate, one for each of the optimiser's groups; all of it where absent.
        Where loss or gradient are not finite the step is left out, as in WeNet, and so is the norm.
        Raises Diverged when that happens time after time.
        """
        groups = self._optimiser.param_groups
        for group, share in zip(groups, shares or [1.0] * len(groups), strict=True):
            group["lr"] = rate * share
        self._optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        norm = float(nn.utils.clip_grad_norm_(self._parameters, self._max_norm))
        if not (math.isfinite(norm) and math.isfinite(float(loss.detach()))):
            self._skip()
            return math.nan
        self._skipped = 0
        self._optimiser.step()
        return norm

    def _skip(self) -> None:
        self._skipped += 1
        if self._skipped >= MOST_SKIPPED:
            raise Diverged(
                f"{self._skipped} updates in a row had no finite gradient: try a lower peak_rate, "
                "or look at what was read last. The run stands where it was last saved"
            )


def require_usable(network: nn.Module) -> None:
    """Raises Diverged if a weight is no number, or too large for half precision."""
    for name, tensor in network.state_dict().items():
        if tensor.is_floating_point() and not bool((tensor.abs() <= LARGEST).all()):
            raise Diverged(
                f"{name} is no number any more, or too large for one: try a lower peak_rate. "
                "The run stands where it was last saved"
            )
