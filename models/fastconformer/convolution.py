"""The convolution module of NeMo's layers."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from earshot.models.fastconformer.config import FastConformerConfig
from earshot.models.layers.convolution import depthwise, pointwise


class Convolution(nn.Module):
    """pointwise → GLU → depthwise → norm → SiLU → pointwise (Gulati 2020, section 2.2).

    What pads the depthwise convolution, at padded frames too, is zero after the gate. The norm is
    named batch_norm whichever it is, as in NeMo's checkpoints.
    """

    def __init__(self, config: FastConformerConfig) -> None:
        super().__init__()
        size, kernel, bias = config.size, config.kernel, config.use_bias
        side = (kernel - 1) // 2
        self.padding = (kernel - 1, 0) if config.causal_convolution else (side, side)
        self.pointwise_conv1 = nn.Conv1d(size, 2 * size, 1, bias=bias)
        self.depthwise_conv = nn.Conv1d(size, size, kernel, groups=size, bias=bias)
        self.batch_norm: nn.Module
        if config.conv_norm == "batch_norm":
            self.batch_norm = nn.BatchNorm1d(size)
        else:
            self.batch_norm = nn.LayerNorm(size)
        self.pointwise_conv2 = nn.Conv1d(size, size, 1, bias=bias)

    def forward(self, x: Tensor, valid: Tensor) -> Tensor:
        """Whole utterances (B, T, D); `valid` (B, T) is False at padding."""
        gated = self.gate(x).masked_fill(~valid.unsqueeze(2), 0.0)
        return self.convolve(functional.pad(gated, (0, 0, *self.padding)))

    def gate(self, x: Tensor) -> Tensor:
        """First pointwise layer and GLU, (B, T, D) to (B, T, D)."""
        return functional.glu(pointwise(self.pointwise_conv1, x), dim=-1)

    def convolve(self, gated: Tensor) -> Tensor:
        """All after the gate: (B, T + kernel - 1, D) to (B, T, D)."""
        y = depthwise(self.depthwise_conv, gated)
        if isinstance(self.batch_norm, nn.BatchNorm1d):
            y = self.batch_norm(y.transpose(1, 2)).transpose(1, 2)
        else:
            y = self.batch_norm(y)
        return pointwise(self.pointwise_conv2, functional.silu(y))
