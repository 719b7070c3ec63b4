"""An encoder's blocks on a CPU, natively: `csrc/encoders/conformer_step.h` from its modules.

Same numbers as `Encoder.forward_lanes` up to rounding, which no other lane changes.
"""

from __future__ import annotations

from typing import TypeGuard

import torch
from torch import Tensor, nn

from earshot.models import _native
from earshot.models.layers.attention import MultiHeadAttention, PositionalKeyAttention
from earshot.models.layers.convolution import ConvolutionModule
from earshot.models.layers.encoder_layer import ConformerLayer, EncoderLayer, TransformerLayer
from earshot.models.layers.subsampling import Conv1dStem
from earshot.models.layers.whisper_stem import WhisperStem
from earshot.models.native.ends import NativeConv1dStem
from earshot.models.native.given_up import copy_and_free
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

    encoder: on the CPU, in float32, one that `is_native`; its weights are copied. processor: one of
    `processors()`, by default the fastest. precision: of all linear layers, the stem's among them.
    """

    def __init__(
        self, encoder: Encoder, processor: str | None = None, precision: Precision = "float32"
    ) -> None:
        config, narrow = encoder.config, encoder.narrow
        self._encoder = encoder
        self._stem = _stem(encoder, processor, precision)
        self._step = _native.ConformerStep(
            size=config.output_size,
            heads=config.attention_heads,
            activation=getattr(_native.Activation, config.activation),
            feed_forward_scale=_feed_forward_scale(encoder.layers[0]),
            after_norm=norm_weights(encoder.after_norm),
            pool_after_block=config.pool_after_block,
            narrow=None if narrow is None else linear_weights(narrow, precision),
            processor=processor or processors()[0],
        )
        for layer in encoder.layers:
            self._step.add(copy_and_free(layer, lambda own: _layer(own, precision)))

    def __call__(
        self, feats: Tensor, out_lengths: Tensor, state: EncoderState, slots: Tensor, columns: int
    ) -> tuple[Tensor, LaneUpdate]:
        """Run one step, see `SlotStep`."""
        del columns  # nothing is copied that would have to be narrow
        offset = state.offset[slots]
        encoder, old_cnn_cache = self._encoder, state.cnn_cache
        heard = encoder.heard(feats, old_cnn_cache[slots] if encoder.hears_past else None)
        stem = encoder.embed_heard(heard, offset, self._stem).contiguous()
        lanes, frames = len(stem), stem.size(1) // encoder.stages[0].rate
        encoded = stem.new_zeros(lanes, frames, encoder.output_size)
        att_columns = stem.new_zeros(
            lanes, *state.att_cache.shape[1:3], frames, state.att_cache.size(4)
        )
        cnn_cache = (
            encoder.past_of_next(heard, out_lengths)
            if encoder.hears_past
            else old_cnn_cache.new_empty(lanes, *old_cnn_cache.shape[1:])
        )
        positions = encoder.key_positions(offset.unsqueeze(1) + torch.arange(frames))
        self._step.run(
            dlpack_capsule(stem),
            None if positions is None else dlpack_capsule(positions),
            dlpack_capsule(slots),
            dlpack_capsule(out_lengths),
            dlpack_capsule(state.cache_length),
            dlpack_capsule(state.att_cache),
            dlpack_capsule(old_cnn_cache),
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
        and encoder.config.streamable
        # Positional keys would need positions at both rates.
        and not (encoder.config.positions == "rel_pos" and len(encoder.stages) > 1)
        and runs_natively(encoder)
    )


def _stem(encoder: Encoder, processor: str | None, precision: Precision) -> Stem | None:
    """Natively where it is one-dimensional: torch's bits depend on how many lanes there are."""
    own = encoder.embed
    if isinstance(own, Conv1dStem | WhisperStem):
        return NativeConv1dStem(own, processor, precision)
    return None


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


def _feed_forward_scale(layer: EncoderLayer) -> float:
    return layer.ff_scale if isinstance(layer, ConformerLayer) else 1.0


def _layer(layer: EncoderLayer, precision: Precision) -> _native.LayerWeights:
    """Weights of a block."""
    if isinstance(layer, TransformerLayer):
        pos, branch = _pos(layer.self_attn, precision), layer.feed_forward
        return _native.LayerWeights(
            macaron=None,
            attention=attention_weights(layer.norm1, layer.self_attn, pos, precision),
            convolution=None,
            feed_forward=feed_forward_weights(layer.norm2, branch.w_1, branch.w_2, precision),
            norm_final=None,
        )
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
