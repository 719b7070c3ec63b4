"""A Whisper in CTranslate2's form under OpenAI's names.

There a self-attention's query, key and value are stacked, and the key and value of an attention to
the encoder; keys have a bias of zeros; int8 weights have a scale for each row, by which they were
multiplied (https://opennmt.net/CTranslate2/quantization.html).
"""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import Tensor

from earshot.models.checkpoints.files.int8_rows import restore_rows
from earshot.models.checkpoints.whisper.ctranslate2_file import read_variables
from earshot.models.checkpoints.whisper.found_weights import FoundWeights, take_projection
from earshot.models.errors import (
    CheckpointError,
    ShapeMismatch,
    UnknownKeys,
    UnusableNumbers,
)

# Settings and the one value that is Whisper's; None for what has no say in what is computed.
SETTINGS = {
    "decoder/activation": 3,  # GELU
    "decoder/alibi": 0,
    "decoder/alibi_use_positive_positions": None,
    "decoder/alignment_heads": None,
    "decoder/alignment_layer": None,
    "decoder/pre_norm": 1,
    "decoder/scale_alibi": None,
    "decoder/scale_embeddings": 0,
    "decoder/start_from_zero_embedding": 0,
}
HEADS = {"encoder/num_heads": "audio_heads", "decoder/num_heads": "text_heads"}
TOKENS = "decoder/embeddings/weight"
PROJECTION = "decoder/projection/weight"
SCALE = "_scale"
OUTSIDE_BLOCKS = {
    "encoder/conv1": "encoder.conv1",
    "encoder/conv2": "encoder.conv2",
    "encoder/layer_norm": "encoder.ln_post",
    "decoder/embeddings": "decoder.token_embedding",
    "decoder/layer_norm": "decoder.ln",
}
POSITIONS = {
    "encoder/position_encodings/encodings": "encoder.positional_embedding",
    "decoder/position_encodings/encodings": "decoder.positional_embedding",
}
IN_BLOCKS = {
    "self_attention/layer_norm": ("attn_ln",),
    "self_attention/linear_0": ("attn.query", "attn.key", "attn.value"),
    "self_attention/linear_1": ("attn.out",),
    "attention/layer_norm": ("cross_attn_ln",),
    "attention/linear_0": ("cross_attn.query",),
    "attention/linear_1": ("cross_attn.key", "cross_attn.value"),
    "attention/linear_2": ("cross_attn.out",),
    "ffn/layer_norm": ("mlp_ln",),
    "ffn/linear_0": ("mlp.0",),
    "ffn/linear_1": ("mlp.2",),
}
"""Their layers, and those of OpenAI's that are stacked in them."""
KINDS = {"weight": "weight", "bias": "bias", "gamma": "weight", "beta": "bias"}
LAYER = re.compile(r"(encoder|decoder)/layer_(0|[1-9]\d{0,3})/(\w+/\w+)")


def read_ctranslate2(path: Path) -> FoundWeights:
    """Weights of a `model.bin`. Raises as `read_variables`, and CheckpointError for a setting.

    Raises also UnknownKeys for a tensor without a place, UnusableNumbers for one of int16, and as
    `restore_rows` for one of int8.
    """
    variables = read_variables(path)
    heads = _take_settings(variables)
    weights = _without_scales(variables)
    take_projection(weights, PROJECTION, TOKENS)
    tensors: dict[str, Tensor] = {}
    for name, weight in weights.items():
        renamed = _renamed(name, weight)
        if renamed.keys() & tensors.keys():
            raise UnknownKeys([name])
        tensors |= renamed
    return FoundWeights(_without_key_biases(tensors), heads)


def _take_settings(variables: dict[str, Tensor]) -> dict[str, int]:
    """Removes whatever is no weight. The heads of either side, by our fields of WhisperDims."""
    for name, wanted in SETTINGS.items():
        found = variables.pop(name, None)
        if found is not None and wanted is not None and _single(name, found) != wanted:
            raise CheckpointError(f"{name} is {found.item()}, and {wanted} in every Whisper")
    found_heads = {field: variables.pop(name, None) for name, field in HEADS.items()}
    return {
        field: _single(field, value) for field, value in found_heads.items() if value is not None
    }


def _single(name: str, value: Tensor) -> int:
    if value.numel() != 1 or value.is_floating_point():
        raise ShapeMismatch(f"{name} is {tuple(value.shape)}, and should be one whole number")
    return int(value.item())


def _without_scales(variables: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights as floats, those of int8 divided by their rows' scales: ours are the inverse."""
    for name, value in variables.items():
        if value.dtype in (torch.int16, torch.int32):
            raise UnusableNumbers(f"{name} holds {value.dtype}; of whole numbers int8 is read here")
    inverses = {
        name: value.float().reciprocal()
        for name, value in variables.items()
        if name.endswith(SCALE) and value.is_floating_point()
    }
    return restore_rows(variables | inverses, SCALE)


def _renamed(name: str, weight: Tensor) -> dict[str, Tensor]:
    """The tensors of OpenAI's that one of CTranslate2's holds. Raises UnknownKeys for none."""
    if name in POSITIONS:
        return {POSITIONS[name]: weight}
    place, _, kind = name.rpartition("/")
    targets = _targets(place)
    if kind not in KINDS or not targets:
        raise UnknownKeys([name])
    if weight.dim() == 0 or weight.size(0) % len(targets):
        shape = tuple(weight.shape)
        raise ShapeMismatch(
            f"{name} is {shape}, which does not fall into {len(targets)} equal parts"
        )
    parts = weight.chunk(len(targets))
    return {f"{to}.{KINDS[kind]}": part for to, part in zip(targets, parts, strict=True)}


def _targets(place: str) -> tuple[str, ...]:
    """OpenAI's names of the layers that are stacked in one of CTranslate2's; none, no place."""
    if place in OUTSIDE_BLOCKS:
        return (OUTSIDE_BLOCKS[place],)
    layer = LAYER.fullmatch(place)
    if layer is None:
        return ()
    side, block, part = layer.groups()
    return tuple(f"{side}.blocks.{block}.{name}" for name in IN_BLOCKS.get(part, ()))


def _without_key_biases(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Raises CheckpointError for a key's bias that is not zero, which Whisper has no place for."""
    biases = {name for name in tensors if name.endswith("attn.key.bias")}
    if wrong := sorted(name for name in biases if tensors[name].any()):
        raise CheckpointError(f"{wrong[0]} is not zero; no Whisper has one")
    return {name: tensor for name, tensor in tensors.items() if name not in biases}
