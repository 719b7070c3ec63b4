"""Networks that have the weights of some modules still to come, from a file.

Whoever packs them brings those of one module at a time, so that never all of them are in memory as
they were trained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from torch import Tensor, nn

WAITING = "_waiting_weights"


@dataclass(frozen=True)
class Waiting:
    """A module's weights, stored in a file, by the module's names; and what gives it them."""

    weights: Mapping[str, Tensor]
    bring: Callable[[], None]


def bring_later(module: nn.Module, weights: Waiting) -> None:
    """Have a module without memory wait for its weights."""
    setattr(module, WAITING, weights)


def bring_weights(module: nn.Module) -> None:
    """Give a module the weights that it waits for, if it does.

    Raises CheckpointError for a file that no longer holds what it held.
    """
    if WAITING in module.__dict__:
        module.__dict__.pop(WAITING).bring()


def bring_all(network: nn.Module) -> None:
    """Give all modules their weights; see `bring_weights`."""
    for module in network.modules():
        bring_weights(module)


def named_weights(network: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Parameters by name, where modules wait for theirs as they are stored."""
    stored = {
        f"{place}.{key}": weight
        for place, module in network.named_modules()
        if WAITING in module.__dict__
        for key, weight in module.__dict__[WAITING].weights.items()
    }
    for name, own in network.named_parameters():
        yield name, stored.get(name, own)
