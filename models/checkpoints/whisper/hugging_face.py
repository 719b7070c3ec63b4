"""A Whisper as Hugging Face's transformers saves it, under OpenAI's names.

A folder of `config.json` and one file of weights, or several that an index lists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from earshot.models.checkpoints.files.hugging_face_folder import (
    SAFETENSORS,
    Reader,
    find_weights,
    read_json,
    read_weights,
)
from earshot.models.checkpoints.files.torch_archive import read_state_dict
from earshot.models.checkpoints.whisper.found_weights import FoundWeights, take_projection
from earshot.models.errors import CheckpointError, UnknownKeys, quote

READERS: Mapping[str, Reader] = {**SAFETENSORS, "pytorch_model.bin": read_state_dict}
"""Looked for in this order, each before its index."""
SIZES = {
    "num_mel_bins": ("mels",),
    "max_source_positions": ("audio_positions",),
    "d_model": ("audio_size", "text_size"),
    "encoder_attention_heads": ("audio_heads",),
    "encoder_layers": ("audio_blocks",),
    "vocab_size": ("vocabulary",),
    "max_target_positions": ("text_positions",),
    "decoder_attention_heads": ("text_heads",),
    "decoder_layers": ("text_blocks",),
}
"""Keys of config.json, each of which must be there, and our fields of WhisperDims."""
ONLY_VALUES = {
    "model_type": "whisper",
    "activation_function": "gelu",
    "scale_embedding": False,
    "tie_word_embeddings": True,
}
"""Keys of which every Whisper has one value, which transformers assumes where there is none."""
TOKENS = "decoder.embed_tokens.weight"
PROJECTION = "proj_out.weight"
OUTSIDE_BLOCKS = {
    "encoder.conv1": "encoder.conv1",
    "encoder.conv2": "encoder.conv2",
    "encoder.layer_norm": "encoder.ln_post",
    "decoder.embed_tokens": "decoder.token_embedding",
    "decoder.layer_norm": "decoder.ln",
}
POSITIONS = {
    "encoder.embed_positions.weight": "encoder.positional_embedding",
    "decoder.embed_positions.weight": "decoder.positional_embedding",
}
ATTENTION = {"q_proj": "query", "k_proj": "key", "v_proj": "value", "out_proj": "out"}
IN_BLOCKS = {
    "self_attn_layer_norm": "attn_ln",
    "encoder_attn_layer_norm": "cross_attn_ln",
    "final_layer_norm": "mlp_ln",
    "fc1": "mlp.0",
    "fc2": "mlp.2",
    **{f"self_attn.{theirs}": f"attn.{ours}" for theirs, ours in ATTENTION.items()},
    **{f"encoder_attn.{theirs}": f"cross_attn.{ours}" for theirs, ours in ATTENTION.items()},
}
LAYER = re.compile(r"(encoder|decoder)\.layers\.(0|[1-9]\d{0,3})\.(.+)")


def holds_hugging_face(folder: Path) -> bool:
    """Whether weights lie in the folder under a name that transformers gives them."""
    return find_weights(folder, READERS) is not None


def read_hugging_face(folder: Path) -> FoundWeights:
    """Weights of a folder, and the sizes that its config.json states.

    Raises CheckpointError for a configuration that no Whisper has, NotACheckpoint, UnsafeCheckpoint
    for files, MissingKeys and UnknownKeys for tensors that are not as an index lists them.
    """
    stated = _read_config(folder / "config.json")
    weights = _without_prefix(read_weights(folder, READERS))
    take_projection(weights, PROJECTION, TOKENS)
    return FoundWeights({_renamed(name): weight for name, weight in weights.items()}, stated)


def _without_prefix(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Names as those of transformers' model without its output layer."""
    short = {name.removeprefix("model."): weight for name, weight in weights.items()}
    if len(short) < len(weights):
        raise UnknownKeys(f"model.{name}" for name in short.keys() & weights.keys())
    return short


def _read_config(path: Path) -> dict[str, int]:
    config = read_json(path)
    for key, wanted in ONLY_VALUES.items():
        if (found := config.get(key, wanted)) != wanted or type(found) is not type(wanted):
            raise CheckpointError(f"{path} has {key} {quote(found)}, and {wanted!r} in a Whisper")
    for key in SIZES:
        if type(config.get(key)) is not int or config[key] < 0:
            raise CheckpointError(f"{path} has {key} {quote(config.get(key))}, which is no size")
    return {field: config[key] for key, names in SIZES.items() for field in names}


def _renamed(name: str) -> str:
    """OpenAI's name. Raises UnknownKeys for one without a place."""
    if name in POSITIONS:
        return POSITIONS[name]
    place, _, kind = name.rpartition(".")
    target = OUTSIDE_BLOCKS.get(place)
    if layer := LAYER.fullmatch(place):
        side, block, part = layer.groups()
        target = f"{side}.blocks.{block}.{IN_BLOCKS[part]}" if part in IN_BLOCKS else None
    if target is None:
        raise UnknownKeys([name])
    return f"{target}.{kind}"
