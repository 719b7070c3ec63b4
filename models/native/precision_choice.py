"""The precision that an operator's choice means for one network on this processor."""

from __future__ import annotations

from torch import nn

from earshot.models.native.precision import Precision, PrecisionChoice
from earshot.models.native.weights import processors, runs_natively

LEAST_PARAMETERS = 6_000_000
"""Of a network that `auto` rounds: smaller ones gain less, and are the more at its mercy."""

INSTRUCTION = "avx512_bf16"
"""The processor without which rounding takes time instead of saving it."""


def chosen_precision(choice: PrecisionChoice, network: nn.Module) -> Precision:
    """The precision of a network's native layers.

    `auto` is bfloat16 where the processor multiplies so, and the network is large enough.
    """
    if choice != "auto":
        return choice
    large = sum(parameter.numel() for parameter in network.parameters()) >= LEAST_PARAMETERS
    pays = large and INSTRUCTION in processors() and runs_natively(network)
    return "bfloat16" if pays else "float32"
