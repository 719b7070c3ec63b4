"""Weights put into a network that was laid out without memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

import torch
from torch import Tensor, nn

from earshot.models.checkpoints.files.stored_tensors import in_memory, is_stored
from earshot.models.checkpoints.tensor_check import check_numbers, check_shapes
from earshot.models.native.late_weights import Waiting, bring_later


def fill(
    network: nn.Module,
    weights: Mapping[str, Tensor],
    *,
    given_up: bool = False,
    late: Collection[nn.Module] = (),
) -> None:
    """Gives a network its weights, float32, and sets it to evaluation without gradients.

    given_up: nobody else uses the weights, so that those need not be copied which are as they
    should be. late: modules of the network that may wait for their weights (`bring_weights`) where
    those are stored in a file; they are checked now, and once more when they come.

    Raises MissingKeys, UnknownKeys, ShapeMismatch, UnusableNumbers or DamagedWeights unless they
    are what the network wants, NotACheckpoint for a file that no longer holds them.
    """
    check_shapes(network.state_dict(), weights)
    waiting = _postponed(network, weights, late)
    taken: set[int] = set()
    ready = {}
    for key, tensor in weights.items():
        found = in_memory(tensor)
        check_numbers(key, found)
        if key not in waiting:
            ready[key] = _as_parameter(found, is_free=given_up and _is_free(found, taken))
    network.load_state_dict(ready, strict=not waiting, assign=True)
    network.eval().requires_grad_(False)


def _postponed(
    network: nn.Module, weights: Mapping[str, Tensor], late: Collection[nn.Module]
) -> set[str]:
    """Names of the weights that late modules wait for from now on."""
    waiting: set[str] = set()
    for place, module in network.named_modules():
        if module not in late:
            continue
        own = {key: weights[f"{place}.{key}"] for key in module.state_dict()}
        if all(map(is_stored, own.values())):
            bring_later(module, Waiting(own, partial(fill, module, own, given_up=True)))
            waiting.update(f"{place}.{key}" for key in own)
    return waiting


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
