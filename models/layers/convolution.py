"""The conformer's convolution module.

Causal modules carry the last `kernel - 1` columns from chunk to chunk; before a stream's first
frame the module's input is zero. Arrays stay time-major (B, T, D); only the depthwise kernel
sees channels first, as a 2-D convolution over a channels-last view, which on CPU takes half
the time of the 1-D one.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.config import EncoderConfig
from earshot.models.layers.feed_forward import ACTIVATIONS


class ConvolutionModule(nn.Module):
    """pointwise → GLU → depthwise → norm → activation → pointwise (Gulati 2020, section 2.2)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        size, kernel = config.output_size, config.cnn_module_kernel
        self.causal = config.causal
        self.cache_columns = kernel - 1 if config.causal else 0
        self.side_padding = 0 if config.causal else (kernel - 1) // 2
        self.pointwise_conv1 = nn.Conv1d(size, 2 * size, 1)
        self.depthwise_conv = nn.Conv1d(size, size, kernel, groups=size)
        self.norm: nn.Module
        if config.cnn_module_norm == "batch_norm":
            self.norm = nn.BatchNorm1d(size, eps=config.conv_norm_eps)
        else:
            self.norm = nn.LayerNorm(size, eps=config.conv_norm_eps)
        self.activation = ACTIVATIONS[config.activation]()
        self.pointwise_conv2 = nn.Conv1d(size, size, 1)

    def forward(self, x: Tensor, valid: Tensor | None) -> Tensor:
        """Whole utterances (B, T, D); `valid` (B, T, 1) is False at padding, None without any."""
        if valid is not None:
            x = x.masked_fill(~valid, 0.0)
        gated = self.gate(functional.pad(x, (0, 0, self.cache_columns, 0)))
        y = self.convolve(functional.pad(gated, (0, 0, self.side_padding, self.side_padding)))
        return y if valid is None else y.masked_fill(~valid, 0.0)

    def gate(self, x: Tensor) -> Tensor:
        """First pointwise layer and GLU, (B, T, D) to (B, T, D)."""
        return functional.glu(pointwise(self.pointwise_conv1, x), dim=-1)

    def silence(self) -> Tensor:
        """The output of `gate` for the zeros before a stream's first frame: (D,)."""
        bias = self.pointwise_conv1.bias
        assert bias is not None
        return functional.glu(bias, dim=-1)

    def convolve(self, gated: Tensor) -> Tensor:
        """All after the gate: (B, T + kernel - 1, D) to (B, T, D)."""
        y = depthwise(self.depthwise_conv, gated)
        if isinstance(self.norm, nn.BatchNorm1d):
            y = self.norm(y.transpose(1, 2)).transpose(1, 2)
        else:
            y = self.norm(y)
        return pointwise(self.pointwise_conv2, self.activation(y))

    def step(self, x: Tensor, cache: Tensor | None) -> tuple[Tensor, Tensor]:
        """One chunk (1, T, D) after `cache` (1, D, kernel - 1), WeNet's: the module's last inputs.

        Returns the output (1, T, D) and the new cache.
        """
        if cache is None:
            past = x.new_zeros(x.size(0), self.cache_columns, x.size(2))
        else:
            past = cache.transpose(1, 2)
        joined = torch.cat((past, x), dim=1)
        new_cache = joined[:, joined.size(1) - self.cache_columns :].transpose(1, 2)
        return self.convolve(self.gate(joined)), new_cache


def pointwise(conv: nn.Conv1d, x: Tensor) -> Tensor:
    """A convolution of kernel 1, over time-major vectors (…, D)."""
    return functional.linear(x, conv.weight.squeeze(-1), conv.bias)


def depthwise(conv: nn.Conv1d, x: Tensor) -> Tensor:
    """A convolution of one kernel a channel, (B, T + kernel - 1, D) to (B, T, D)."""
    weight = conv.weight.unsqueeze(2)
    columns = x.transpose(1, 2).unsqueeze(2)
    if torch.is_autocast_enabled("cpu"):
        # On CPUs with AMX oneDNN never returns from this in bfloat16 with 16 channels.
        columns = columns.contiguous()
    y = functional.conv2d(columns, weight, conv.bias, groups=x.size(-1))
    return y.squeeze(2).transpose(1, 2)
