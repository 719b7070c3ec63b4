"""Layers as the native networks take them (`csrc/network_weights.h`); weights are copied."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

from earshot.models import _native
from earshot.models.native.precision import Precision
from earshot.native.dlpack import DlpackCapsule, dlpack_capsule


class AttentionProjections(Protocol):
    """An attention's linear layers, by the names that all kinds give them."""

    linear_q: nn.Linear
    linear_k: nn.Linear
    linear_v: nn.Linear
    linear_out: nn.Linear


def processors() -> list[str]:
    """The kinds of processor that this one can run code for, the fastest first."""
    return _native.processors()


def multiplies_bfloat16_faster() -> bool:
    """Whether bfloat16 is multiplied at a higher rate than float32 here: AMD's, from Zen 4."""
    return _native.multiplies_bfloat16_faster()


def runs_natively(network: nn.Module) -> bool:
    """Whether its weights are where native networks run, and of their kind."""
    weight = next(network.parameters())
    return weight.device.type == "cpu" and weight.dtype == torch.float32


def floats(tensor: Tensor) -> DlpackCapsule:
    """What a native array is filled from."""
    return dlpack_capsule(tensor.detach().float().contiguous())


def linear_weights(
    layer: nn.Linear | nn.Conv1d, precision: Precision = "float32"
) -> _native.LinearWeights:
    """Weights of a linear layer, or of a convolution that sees one column."""
    weight = layer.weight.squeeze(-1) if isinstance(layer, nn.Conv1d) else layer.weight
    return rows_weights(weight, layer.bias, precision)


def rows_weights(
    weight: Tensor, bias: Tensor | None, precision: Precision = "float32"
) -> _native.LinearWeights:
    """Weights of a layer of weight (N, K) and bias (N,)."""
    shift = weight.new_zeros(len(weight)) if bias is None else bias
    kept = getattr(_native.Precision, precision)
    return _native.LinearWeights(floats(weight), floats(shift), kept)


def norm_weights(norm: nn.Module) -> _native.NormWeights:
    """Weights of a layer norm, or of a batch norm whose statistics no longer change."""
    if isinstance(norm, nn.BatchNorm1d):
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        shift = norm.bias - norm.running_mean * scale
        return _native.NormWeights(floats(scale), floats(shift), norm.eps, frozen_stats=True)
    assert isinstance(norm, nn.LayerNorm)
    return _native.NormWeights(floats(norm.weight), floats(norm.bias), norm.eps)


def feed_forward_weights(
    norm: nn.Module, up: nn.Linear, down: nn.Linear, precision: Precision = "float32"
) -> _native.FeedForwardWeights:
    """Weights of a feed-forward branch and the norm before it."""
    wide, narrow = linear_weights(up, precision), linear_weights(down, precision)
    return _native.FeedForwardWeights(norm_weights(norm), wide, narrow)


def attention_weights(
    norm: nn.Module,
    attention: AttentionProjections,
    pos: _native.PosWeights | None = None,
    precision: Precision = "float32",
) -> _native.AttentionWeights:
    """Weights of an attention branch and the norm before it."""
    query, key, value, out = (
        linear_weights(layer, precision)
        for layer in (
            attention.linear_q,
            attention.linear_k,
            attention.linear_v,
            attention.linear_out,
        )
    )
    return _native.AttentionWeights(norm_weights(norm), query, key, value, out, pos)
