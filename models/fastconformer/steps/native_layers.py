"""Layers of a FastConformer as the native step takes them; weights are copied."""

from __future__ import annotations

from torch import Tensor, nn

from earshot.models import _native
from earshot.models.fastconformer.convolution import Convolution
from earshot.models.fastconformer.layer import FastConformerLayer
from earshot.models.fastconformer.relative_attention import RelativeAttention
from earshot.models.native.precision import Precision
from earshot.models.native.weights import (
    attention_weights,
    feed_forward_weights,
    floats,
    linear_weights,
    norm_weights,
    rows_weights,
)


def layer_weights(
    layer: FastConformerLayer, positions: Tensor, precision: Precision
) -> _native.FastConformerLayerWeights:
    """Weights of a layer whose queries and keys are as far apart as positions (P, D) say.

    precision: of all linear layers; what attention multiplies stays float32.
    """
    first, second = layer.feed_forward1, layer.feed_forward2
    return _native.FastConformerLayerWeights(
        first=feed_forward_weights(
            layer.norm_feed_forward1, first.linear1, first.linear2, precision
        ),
        attention=_attention(layer.norm_self_att, layer.self_attn, positions, precision),
        convolution=_convolution(layer.norm_conv, layer.conv, precision),
        second=feed_forward_weights(
            layer.norm_feed_forward2, second.linear1, second.linear2, precision
        ),
        norm_out=norm_weights(layer.norm_out),
    )


def _attention(
    norm: nn.LayerNorm, attention: RelativeAttention, positions: Tensor, precision: Precision
) -> _native.RelativeAttentionWeights:
    return _native.RelativeAttentionWeights(
        layers=attention_weights(norm, attention, precision=precision),
        bias_u=floats(attention.pos_bias_u.flatten()),
        bias_v=floats(attention.pos_bias_v.flatten()),
        places=floats(attention.linear_pos(positions)),
    )


def _convolution(
    norm: nn.LayerNorm, module: Convolution, precision: Precision
) -> _native.ConvolutionWeights:
    gated, kernel = module.pointwise_conv1, module.depthwise_conv
    biases = (None, None) if gated.bias is None else gated.bias.chunk(2)
    content, gate = (
        rows_weights(rows, bias, precision)
        for rows, bias in zip(gated.weight.squeeze(-1).chunk(2), biases, strict=True)
    )
    bias = kernel.weight.new_zeros(len(kernel.weight)) if kernel.bias is None else kernel.bias
    return _native.ConvolutionWeights(
        input_norm=norm_weights(norm),
        content=content,
        gate=gate,
        kernel=floats(kernel.weight.squeeze(1).t()),
        bias=floats(bias),
        norm=norm_weights(module.batch_norm),
        out=linear_weights(module.pointwise_conv2, precision),
        zeros_beside=True,
    )
