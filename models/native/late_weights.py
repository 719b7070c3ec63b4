"""Networks that have the weights of some modules still to come, from a file.

Whoever packs them brings those of one module at a time, so that never all of them are in memory as
they were trained.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

BRING = "_bring_weights"


def bring_later(module: nn.Module, bring: Callable[[], None]) -> None:
    """Have a module without memory wait for what gives it its weights."""
    setattr(module, BRING, bring)


def bring_weights(module: nn.Module) -> None:
    """Give a module the weights that it waits for, if it does.

    Raises CheckpointError for a file that no longer holds what it held.
    """
    if BRING in module.__dict__:
        module.__dict__.pop(BRING)()


def bring_all(network: nn.Module) -> None:
    """Give all modules their weights; see `bring_weights`."""
    for module in network.modules():
        bring_weights(module)
