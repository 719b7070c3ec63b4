"""Layers as the native networks take them (`csrc/network_weights.h`); weights are copied."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch import Tensor, nn

from earshot.models.layers.attention import MultiHeadAttention
from earshot.native.dlpack import DlpackCapsule, dlpack_capsule


def native() -> Any:
    """The compiled networks."""
    return importlib.import_module("earshot.models._native")


def processors() -> list[str]:
    """The kinds of processor that this one can run code for, the fastest first."""
    found: list[str] = native().processors()
    return found


def runs_natively(network: nn.Module) -> bool:
    """Whether its weights are where native networks run, and of their kind."""
    weight = next(network.parameters())
    return weight.device.type == "cpu" and weight.dtype == torch.float32


def floats(tensor: Tensor) -> DlpackCapsule:
    """What a native array is filled from."""
    return dlpack_capsule(tensor.detach().float().contiguous())


def linear_weights(layer: nn.Linear | nn.Conv1d) -> Any:
    """Weights of a linear layer, or of a convolution that sees one column."""
    weight = layer.weight.squeeze(-1) if isinstance(layer, nn.Conv1d) else layer.weight
    return rows_weights(weight, layer.bias)


def rows_weights(weight: Tensor, bias: Tensor | None) -> Any:
    """Weights of a layer of weight (N, K) and bias (N,)."""
    shift = weight.new_zeros(len(weight)) if bias is None else bias
    return native().LinearWeights(floats(weight), floats(shift))


def norm_weights(norm: nn.Module) -> Any:
    """Weights of a layer norm, or of a batch norm whose statistics no longer change."""
    if isinstance(norm, nn.BatchNorm1d):
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        shift = norm.bias - norm.running_mean * scale
        return native().NormWeights(floats(scale), floats(shift), norm.eps, frozen_stats=True)
    assert isinstance(norm, nn.LayerNorm)
    return native().NormWeights(floats(norm.weight), floats(norm.bias), norm.eps)


def feed_forward_weights(norm: nn.Module, up: nn.Linear, down: nn.Linear) -> Any:
    """Weights of a feed-forward branch and the norm before it."""
    return native().FeedForwardWeights(norm_weights(norm), linear_weights(up), linear_weights(down))


def attention_weights(norm: nn.Module, attention: MultiHeadAttention, pos: Any = None) -> Any:
    """Weights of an attention branch and the norm before it."""
    projections = attention.linear_q, attention.linear_k, attention.linear_v, attention.linear_out
    return native().AttentionWeights(norm_weights(norm), *map(linear_weights, projections), pos)
