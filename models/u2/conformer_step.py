"""The native step of a conformer's blocks on a CPU: `csrc/conformer_step.h` from its modules.

Same numbers as `Encoder.forward_lanes` up to rounding, which no other lane changes.
"""

from __future__ import annotations

from typing import TypeGuard

import torch
from torch import Tensor, nn

from earshot.models import _native
from earshot.models.layers.attention import MultiHeadAttention, PositionalKeyAttention
from earshot.models.layers.convolution import ConvolutionModule
from earshot.models.layers.encoder_layer import ConformerLayer
from earshot.models.layers.subsampling import Conv1dStem
from earshot.models.native.ends import NativeConv1dStem
from earshot.models.native.precision import Precision
from earshot.models.native.weights import (
    attention_weights,
    feed_forward_weights,
    floats,
    linear_weights,
    norm_weights,
    processors,
    rows_weights,
    runs_natively,
)
from earshot.models.u2.encoder import Encoder, Stem
from earshot.models.u2.lanes import EncoderState, LaneUpdate
from earshot.native.dlpack import dlpack_capsule


class ConformerStep:
    """One chunk of many lanes, read where their slots keep it.

    encoder: on the CPU, of conformer blocks, in float32; its weights are copied. processor: one of
    `processors()`, by default the fastest. precision: of all linear layers, the stem's among them.
    """

    def __init__(
        self, encoder: Encoder, processor: str | None = None, precision: Precision = "float32"
    ) -> None:
        config, layers = encoder.config, encoder.layers
        self._encoder = encoder
        self._stem = _stem(encoder, processor, precision)
        first = layers[0]
        assert isinstance(first, ConformerLayer)
        self._step = _native.ConformerStep(
            size=config.output_size,
            heads=config.attention_heads,
            activation=getattr(_native.Activation, config.activation),
            feed_forward_scale=first.ff_scale,
            layers=[_layer(layer, precision) for layer in layers],
            after_norm=norm_weights(encoder.after_norm),
            processor=processor or processors()[0],
        )

    def __call__(
        self, feats: Tensor, out_lengths: Tensor, state: EncoderState, slots: Tensor, columns: int
    ) -> tuple[Tensor, LaneUpdate]:
        """Run one step, see `SlotStep`."""
        del columns  # nothing is copied that would have to be narrow
        offset = state.offset[slots]
        heard = self._encoder.heard(feats, None)
        stem = self._encoder.embed_heard(heard, offset, self._stem).contiguous()
        lanes, frames = stem.shape[:2]
        encoded = torch.zeros_like(stem)
        att_columns = stem.new_zeros(
            lanes, *state.att_cache.shape[1:3], frames, state.att_cache.size(4)
        )
        cnn_cache = state.cnn_cache.new_empty(lanes, *state.cnn_cache.shape[1:])
        positions = self._encoder.key_positions(offset.unsqueeze(1) + torch.arange(frames))
        self._step.run(
            dlpack_capsule(stem),
            None if positions is None else dlpack_capsule(positions),
            dlpack_capsule(slots),
            dlpack_capsule(out_lengths),
            dlpack_capsule(state.cache_length),
            dlpack_capsule(state.att_cache),
            dlpack_capsule(state.cnn_cache),
            dlpack_capsule(encoded),
            dlpack_capsule(att_columns),
            dlpack_capsule(cnn_cache),
            torch.get_num_threads(),
        )
        return encoded, LaneUpdate(out_lengths, att_columns, cnn_cache)


def is_native(encoder: nn.Module) -> TypeGuard[Encoder]:
    """Whether there is a native step for this encoder, where it is."""
    return (
        isinstance(encoder, Encoder)
        and encoder.config.kind == "conformer"
        and encoder.config.input_layer != "whisper"
        and encoder.config.pool_after_block is None
        and encoder.config.narrow is None
        and encoder.config.streamable
        and runs_natively(encoder)
    )


def _stem(encoder: Encoder, processor: str | None, precision: Precision) -> Stem | None:
    """Natively where it is one-dimensional: torch's bits depend on how many lanes there are."""
    own = encoder.embed
    return NativeConv1dStem(own, processor, precision) if isinstance(own, Conv1dStem) else None


def _pos(attention: MultiHeadAttention, precision: Precision) -> _native.PosWeights | None:
    """Weights of positional keys; None without."""
    if not isinstance(attention, PositionalKeyAttention):
        return None
    u, v = attention.pos_bias_u.flatten(), attention.pos_bias_v.flatten()
    pos = linear_weights(attention.linear_pos, precision)
    return _native.PosWeights(pos, floats(u), floats(v))


def _convolution(
    norm: nn.LayerNorm, module: ConvolutionModule, precision: Precision
) -> _native.ConvolutionWeights:
    gated = module.pointwise_conv1
    weight, bias = gated.weight.squeeze(-1), gated.bias
    kernel, kernel_bias = module.depthwise_conv.weight.squeeze(1).t(), module.depthwise_conv.bias
    assert bias is not None
    assert kernel_bias is not None
    content, gate = (
        rows_weights(rows, shift, precision)
        for rows, shift in zip(weight.chunk(2), bias.chunk(2), strict=True)
    )
    return _native.ConvolutionWeights(
        input_norm=norm_weights(norm),
        content=content,
        gate=gate,
        kernel=floats(kernel),
        bias=floats(kernel_bias),
        norm=norm_weights(module.norm),
        out=linear_weights(module.pointwise_conv2, precision),
    )


def _layer(layer: nn.Module, precision: Precision) -> _native.LayerWeights:
    assert isinstance(layer, ConformerLayer)
    macaron, branch = layer.feed_forward_macaron, layer.feed_forward
    convolution = layer.conv_module
    closes = isinstance(layer.norm_final, nn.LayerNorm)
    return _native.LayerWeights(
        macaron=None
        if macaron is None
        else feed_forward_weights(layer.norm_ff_macaron, macaron.w_1, macaron.w_2, precision),
        attention=attention_weights(
            layer.norm_mha, layer.self_attn, _pos(layer.self_attn, precision), precision
        ),
        convolution=None
        if convolution is None
        else _convolution(layer.norm_conv, convolution, precision),
        feed_forward=feed_forward_weights(layer.norm_ff, branch.w_1, branch.w_2, precision),
        norm_final=norm_weights(layer.norm_final) if closes else None,
    )
