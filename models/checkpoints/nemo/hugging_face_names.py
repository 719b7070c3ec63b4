"""Tensors of a Parakeet or Nemotron under transformers' names, under ours."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import Tensor

from earshot.models.errors import UnknownKeys

HEADS = {
    "ctc_head": "ctc.output",
    "encoder_projector": "transducer.joint.encoder",
    "decoder.embedding": "transducer.predictor.embed",
    "decoder.lstm": "transducer.predictor.lstm",
    "decoder.decoder_projector": "transducer.joint.predictor",
    "joint.head": "transducer.joint.output",
    "prompt_projector.linear_1": "prompt.0",
    "prompt_projector.linear_2": "prompt.2",
    "encoder.subsampling.linear": "encoder.pre_encode.out",
}
ATTENTION = {
    "self_attn.q_proj.": "self_attn.linear_q.",
    "self_attn.k_proj.": "self_attn.linear_k.",
    "self_attn.v_proj.": "self_attn.linear_v.",
    "self_attn.o_proj.": "self_attn.linear_out.",
    "self_attn.relative_k_proj.": "self_attn.linear_pos.",
    "self_attn.bias_": "self_attn.pos_bias_",
    "conv.norm.": "conv.batch_norm.",
}
"""Beginnings of names within a layer that are not the same; the others are NeMo's."""
SAME = re.compile(
    r"(norm_\w+|feed_forward[12]\.linear[12]|conv\.(pointwise_conv[12]|depthwise_conv))\.\w+"
)
LAYER = re.compile(r"encoder\.layers\.(0|[1-9]\d{0,3})\.(.+)")
# The first stage stands alone; the others are ReLU, a depthwise and a pointwise convolution each.
PLAIN_STAGE = re.compile(r"encoder\.subsampling\.layers\.(\d{1,2})\.(weight|bias)")
CAUSAL_FIRST = "encoder.subsampling.conv_in"
CAUSAL_STAGE = re.compile(
    r"encoder\.subsampling\.layers\.(\d)\.(depthwise|pointwise)_conv\.(weight|bias)"
)
CTC_WEIGHT = "ctc.output.weight"


def renamed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors under our names; the CTC head's, a convolution's (V + 1, D, 1), as a matrix's.

    Raises UnknownKeys for names that have no place here, all of them.
    """
    names = {theirs: _renamed(theirs) for theirs in weights}
    if unknown := [theirs for theirs, ours in names.items() if ours is None]:
        raise UnknownKeys(unknown)
    found = {ours: weights[theirs] for theirs, ours in names.items() if ours is not None}
    if CTC_WEIGHT in found and found[CTC_WEIGHT].dim() == 3:
        found[CTC_WEIGHT] = found[CTC_WEIGHT].squeeze(2)
    return found


def _renamed(name: str) -> str | None:
    if layer := LAYER.fullmatch(name):
        part = _of_layer(layer[2])
        return part and f"encoder.layers.{layer[1]}.{part}"
    return _of_stem(name) or _of_head(name)


def _of_layer(part: str) -> str | None:
    for theirs, ours in ATTENTION.items():
        if part.startswith(theirs):
            return ours + part.removeprefix(theirs)
    return part if SAME.fullmatch(part) else None


def _of_stem(name: str) -> str | None:
    if stage := PLAIN_STAGE.fullmatch(name):
        return f"encoder.pre_encode.conv.{int(stage[1])}.{stage[2]}"
    if stage := CAUSAL_STAGE.fullmatch(name):
        number = 2 + 3 * int(stage[1]) + (stage[2] == "pointwise")
        return f"encoder.pre_encode.conv.{number}.{stage[3]}"
    place, _, kind = name.rpartition(".")
    return f"encoder.pre_encode.conv.0.{kind}" if place == CAUSAL_FIRST else None


def _of_head(name: str) -> str | None:
    place, _, kind = name.rpartition(".")
    return f"{HEADS[place]}.{kind}" if place in HEADS else None
