"""Weights of a network about to be trained.

A conformer trained with CTC may sit for hours on the plateau where every frame says blank. The
start here is meant to make that short: a residual stream that carries its input at first, and a
head that begins undecided. How far it helps is the recipe's to measure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from earshot.models.layers.attention import MultiHeadAttention, PositionalKeyAttention
from earshot.models.layers.convolution import ConvolutionModule
from earshot.models.layers.feed_forward import FeedForward
from earshot.models.u2.u2 import U2Model


@dataclass(frozen=True)
class InitConfig:
    """How to depart from Xavier's uniform weights and zero biases.

    `residual_scale` multiplies every branch's output projection; None for 1 / sqrt(branches)
    (Radford 2019, section 2.3). `ctc_scale` multiplies the CTC layer's weights, and `blank_bias`
    is the blank's initial logit.
    """

    residual_scale: float | None = None
    ctc_scale: float = 0.1
    blank_bias: float = 0.0


def initialise(model: U2Model, config: InitConfig | None = None) -> None:
    """Sets all weights anew, using torch's global generator. Encoder and decoder in place."""
    config = config or InitConfig()
    for module in model.modules():
        _initialise_layer(module)
    _scale_residuals(model, config.residual_scale)
    nn.init.zeros_(model.ctc.ctc_lo.bias)
    model.ctc.ctc_lo.weight.data.mul_(config.ctc_scale)
    model.ctc.ctc_lo.bias.data[model.config.blank_id] = config.blank_bias


def _initialise_layer(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, nn.Conv1d | nn.Conv2d):
        nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
    elif isinstance(module, nn.Embedding):
        # The decoder multiplies embeddings by sqrt(D); positions have a root mean square of 0.7.
        nn.init.normal_(module.weight, std=1.0 / math.sqrt(module.embedding_dim))
    elif isinstance(module, PositionalKeyAttention):
        nn.init.zeros_(module.pos_bias_u)
        nn.init.zeros_(module.pos_bias_v)
    bias = getattr(module, "bias", None)
    if isinstance(bias, nn.Parameter):
        nn.init.zeros_(bias)


def _scale_residuals(model: U2Model, scale: float | None) -> None:
    for layers in _stacks(model):
        outputs = [weight for layer in layers for weight in _residual_outputs(layer)]
        for weight in outputs:
            weight.data.mul_(1.0 / math.sqrt(len(outputs)) if scale is None else scale)


def _stacks(model: U2Model) -> list[Sequence[nn.Module]]:
    """The blocks of the encoder and of each decoder."""
    # Whisper's own comes with its weights.
    own = model.whisper_decoder is None
    decoders = (model.left_decoder, model.right_decoder) if own else ()
    return [model.encoder.layers, *(stack.layers for stack in decoders if stack is not None)]


def _residual_outputs(layer: nn.Module) -> list[Tensor]:
    """The last weight of each residual branch of a block."""
    weights = []
    for branch in layer.children():
        if isinstance(branch, FeedForward):
            weights.append(branch.w_2.weight)
        elif isinstance(branch, MultiHeadAttention):
            weights.append(branch.linear_out.weight)
        elif isinstance(branch, ConvolutionModule):
            weights.append(branch.pointwise_conv2.weight)
    return weights
