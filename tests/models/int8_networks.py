"""Networks whose weights int8 stores as they are, and how near int8 and w8a8 come to float32."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from earshot.models.native.precision import Precision

LAYERS = nn.Linear | nn.Conv1d | nn.Conv2d | nn.Embedding
APART: dict[Precision, tuple[float, float]] = {"int8": (0.0, 1 / 40), "w8a8": (1 / 2, 6)}
"""From float32, of what bfloat16 is, whose numbers have 8 bits each: more than, and less than. A
row's whole numbers have 16 bits in int8. In w8a8 they have 8, of which the smaller use fewer."""


def stored(network: nn.Module) -> nn.Module:
    """The network with weights as int8 leaves them, embeddings too: some multiply by theirs."""
    for layer in network.modules():
        if isinstance(layer, LAYERS):
            rows = layer.weight.data.flatten(1)
            scale = rows.abs().amax(1, keepdim=True) / 127
            layer.weight.data = ((rows / scale).round() * scale).view_as(layer.weight)
    return network.requires_grad_(False)


def assert_near(precision: Precision, found: Callable[[Precision], Tensor]) -> None:
    exact, rounded = found("float32"), found("bfloat16")
    apart = (found(precision) - exact).abs().mean() / (rounded - exact).abs().mean()
    more, less = APART[precision]
    assert more < apart < less
