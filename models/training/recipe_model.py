"""The network of a recipe, freshly initialised."""

from __future__ import annotations

import torch
from torch import Tensor

from models.config import DecoderConfig, DecodingConfig, EncoderConfig, LossConfig, ModelConfig
from models.training.config import Recipe
from models.u2 import U2Model

RESIDUAL_OUTPUTS = ("w_2", "linear_out", "pointwise_conv2")


def model_config(recipe: Recipe, vocab_size: int) -> ModelConfig:
    """The whole configuration: what the recipe chooses, and a causal, dynamic-chunk U2++ around it."""
    net = recipe.network
    return ModelConfig(
        vocab_size=vocab_size,
        encoder=EncoderConfig(
            output_size=net.output_size,
            attention_heads=net.attention_heads,
            linear_units=net.linear_units,
            num_blocks=net.num_blocks,
            input_layer=net.input_layer,
            cnn_module_kernel=net.cnn_module_kernel,
            block_norm=net.block_norm,
            dropout_rate=net.dropout_rate,
            positional_dropout_rate=net.dropout_rate,
            attention_dropout_rate=net.dropout_rate,
        ),
        decoder=DecoderConfig(
            attention_heads=net.attention_heads,
            linear_units=net.decoder_linear_units,
            num_blocks=net.decoder_blocks,
            r_num_blocks=net.decoder_r_blocks,
            dropout_rate=net.dropout_rate,
            positional_dropout_rate=net.dropout_rate,
        ),
        decoding=DecodingConfig(chunk_size=net.chunk_size, ctc_weight=0.5, reverse_weight=0.3),
        loss=LossConfig(ctc_weight=recipe.optimiser.ctc_weight),
    )


def build_model(recipe: Recipe, vocab_size: int, mean: Tensor, istd: Tensor) -> U2Model:
    """A model whose residual branches start small, with the features' mean and inverse deviation `(F,)` set."""
    torch.manual_seed(recipe.optimiser.seed)
    model = U2Model(model_config(recipe, vocab_size))
    model.encoder.global_cmvn.mean.copy_(mean)
    model.encoder.global_cmvn.istd.copy_(istd)
    with torch.no_grad():
        for name, parameter in model.encoder.named_parameters():
            if name.split(".")[-2] in RESIDUAL_OUTPUTS and name.endswith("weight"):
                parameter.mul_(recipe.network.residual_init_scale)
    return model
