"""Small random models of every kind, for tests of networks and of their training."""

from dataclasses import replace
from typing import Any

import torch

from earshot.models.config import DecoderConfig, EncoderConfig, ModelConfig
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.transducer_config import TransducerConfig
from earshot.models.u2.u2 import U2Model

TINY = ModelConfig(
    vocab_size=11,
    encoder=EncoderConfig(
        input_dim=80, output_size=16, attention_heads=2, linear_units=24, num_blocks=2,
        cnn_module_kernel=5,
    ),
    decoder=DecoderConfig(attention_heads=2, linear_units=24, num_blocks=1, r_num_blocks=1),
)  # fmt: skip
TINY_TOKENIZER = CharTokenizer(
    UnitTable.parse(
        "".join(f"{unit} {n}\n" for n, unit in enumerate(["<blank>", "<unk>", *"ABCDEFGHI"])),
        "units.txt",
    )
)
WHISPER = {
    "kind": "transformer", "positions": "whisper", "activation": "gelu", "input_layer": "whisper"
}  # fmt: skip
TINY_ENCODERS: dict[str, dict[str, Any]] = {
    "conformer": {},
    "conformer_bn_k8_conv1d6": {
        "cnn_module_norm": "batch_norm",
        "cnn_module_kernel": 8,
        "input_layer": "conv1d6",
    },
    "conformer_no_conv": {"use_cnn_module": False, "macaron_style": False},
    "conformer_no_pos_conv1d8": {"positions": "no_pos", "input_layer": "conv1d8"},
    "conformer_open_block_conv2d8": {"block_norm": False, "input_layer": "conv2d8"},
    "transformer": {"kind": "transformer", "positions": "abs_pos", "activation": "relu"},
    "whisper": WHISPER,
    "whisper_pooled_at_once": {**WHISPER, "pool_after_block": 0, "narrow": 12},
    "whisper_pooled_between": {**WHISPER, "pool_after_block": 1, "narrow": 20},
    "whisper_pooled_last": {**WHISPER, "pool_after_block": 2},
    "positional_keys_pooled": {
        "use_cnn_module": False,
        "macaron_style": False,
        "pool_after_block": 1,
    },
}


TINY_HEADS = {
    "rnnt": TransducerConfig(
        vocab_size=11, encoder_size=16, predictor_size=8, joint_size=12, max_symbols=3
    ),
    "tdt": TransducerConfig(
        vocab_size=11, encoder_size=16, predictor_size=8, joint_size=12, predictor_layers=2,
        activation="tanh", durations=(0, 1, 2, 4), max_symbols=3,
    ),
}  # fmt: skip
"""Transducers over what tiny encoders put out, in tokens of the tiny tokenizer."""


def make_tiny_model(**encoder: Any) -> U2Model:
    """A random model whose every weight matters: no zeros, no ones, some running statistics."""
    torch.manual_seed(7)
    config = replace(TINY, encoder=replace(TINY.encoder, **encoder))
    model = U2Model(config).eval().requires_grad_(False)
    for name, tensor in model.state_dict().items():
        if name.endswith(("running_var", "istd")):
            tensor.uniform_(0.5, 1.5)
        elif tensor.dim() == 1:
            tensor.add_(torch.empty_like(tensor).uniform_(-0.5, 0.5))
    return model
