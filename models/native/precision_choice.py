"""The precision that an operator's choice means for one network on this processor."""

from __future__ import annotations

from torch import nn

from earshot.models.checkpoints.files.int8_rows import are_int8_rows, is_stored_as_rows
from earshot.models.native.late_weights import named_weights
from earshot.models.native.precision import Precision, PrecisionChoice
from earshot.models.native.weights import multiplies_bfloat16_faster, processors, runs_natively

LEAST_PARAMETERS = 6_000_000
"""Of a network that `auto` rounds: smaller ones gain less, and are the more at its mercy."""

INSTRUCTION = "avx512_bf16"
"""The processor without which fewer bits take time, or save little."""


def chosen_precision(choice: PrecisionChoice, network: nn.Module) -> Precision:
    """The precision of a network's native layers.

    `auto` has fewer bits where the processor gains by them and the network is large enough: int8
    for weights that were stored so, of which it rounds none, and bfloat16 for others.
    """
    if choice != "auto":
        return choice
    large = sum(parameter.numel() for parameter in network.parameters()) >= LEAST_PARAMETERS
    pays = large and INSTRUCTION in processors() and runs_natively(network)
    if pays and was_stored_as_int8(network):
        return "int8"
    return "bfloat16" if pays and multiplies_bfloat16_faster() else "float32"


def was_stored_as_int8(network: nn.Module) -> bool:
    """Whether all weights that may be stored as int8 a row were, and some."""
    weights = [own for key, own in named_weights(network) if is_stored_as_rows(key, own)]
    return bool(weights) and all(map(are_int8_rows, weights))
