"""Bytes of the weights that an engine of a FastConformer keeps, by the precision of its layers."""

from __future__ import annotations

from torch import Tensor, nn

from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.native.precision import Precision
from earshot.streaming.fastconformer.cached_hearing import cached_contexts

BYTES = {"float32": 4, "bfloat16": 2, "int8": 1, "w8a8": 1}
FLOAT = BYTES["float32"]
POSITIONS = "linear_pos.weight"
"""What positions are projected with: they are kept, and it is not."""


def kept_bytes(network: nn.Module, precision: Precision) -> int:
    """Bytes of all weights as they are kept; of the heads as they were trained."""
    assert isinstance(network, FastConformerModel)
    own = (
        weights.numel() * (BYTES[precision] if _is_packed(name, weights) else FLOAT)
        for name, weights in network.named_parameters()
        if not name.endswith(POSITIONS)
    )
    return sum(own) + _positions(network)


def _is_packed(name: str, weights: Tensor) -> bool:
    """Of the encoder all matrices, and convolutions that hear more than one channel."""
    if not (name.startswith("encoder.") and name.endswith(".weight")):
        return False
    return weights.dim() == 2 or (weights.dim() > 2 and weights.size(1) > 1)


def _positions(network: FastConformerModel) -> int:
    """Distances between the frames that a chunk hears and its own, in each layer."""
    config = network.config.encoder
    contexts = cached_contexts(config)
    chunk = max(context.right for context in contexts) + 1
    heard = max(context.left for context in contexts) + chunk
    return (heard + chunk - 1) * config.size * config.layers * FLOAT
