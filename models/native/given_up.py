"""Networks whose weights may go as soon as native layers have copied them.

Else all of a large model is in memory twice while the copies are made.
"""

from __future__ import annotations

from torch import nn

MARK = "_is_given_up"


def give_up(network: nn.Module) -> None:
    """Allow whoever copies layers of the network to free them: nobody else computes with it."""
    for module in network.modules():
        setattr(module, MARK, True)


def free_copied(module: nn.Module) -> None:
    """Free a module's weights where its network was given up; its shapes stay."""
    if getattr(module, MARK, False):
        module.to("meta")
