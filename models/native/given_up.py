"""Networks whose weights may go as soon as native layers have copied them.

Else all of a large model is in memory twice while the copies are made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from torch import nn

from earshot.models.native.late_weights import bring_weights

Layer = TypeVar("Layer", bound=nn.Module)
Copied = TypeVar("Copied")

MARK = "_is_given_up"


def give_up(network: nn.Module) -> None:
    """Allow whoever copies layers of the network to free them: nobody else computes with it."""
    for module in network.modules():
        setattr(module, MARK, True)


def free_copied(module: nn.Module) -> None:
    """Free a module's weights where its network was given up; its shapes stay."""
    if getattr(module, MARK, False):
        module.to("meta")


def copy_and_free(layer: Layer, copy: Callable[[Layer], Copied]) -> Copied:
    """Copies of a layer's weights as `copy` makes them; the layer's own go if it was given up.

    Weights that wait in a file are brought before. Raises what `bring_weights` raises.
    """
    bring_weights(layer)
    copied = copy(layer)
    free_copied(layer)
    return copied
