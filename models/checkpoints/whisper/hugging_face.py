"""A Whisper as Hugging Face's transformers saves it, under OpenAI's names.

A folder of `config.json` and one file of weights, or several that an index lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from earshot.models.checkpoints.safetensors_file import read_safetensors_file
from earshot.models.checkpoints.small_file import read_small_text
from earshot.models.checkpoints.torch_archive import read_state_dict
from earshot.models.checkpoints.whisper.found_weights import FoundWeights, take_projection
from earshot.models.errors import (
    CheckpointError,
    MissingKeys,
    UnknownKeys,
    UnsafeCheckpoint,
    quote,
)

ONE_FILE: dict[str, Callable[[Path], dict[str, Tensor]]] = {
    "model.safetensors": read_safetensors_file,
    "pytorch_model.bin": read_state_dict,
}
"""Looked for in this order, each before its index."""
INDEX = "{}.index.json"
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
PLAIN_NAME = re.compile(r"[\w-][\w.-]*", re.ASCII)
LAYER = re.compile(r"(encoder|decoder)\.layers\.(0|[1-9]\d{0,3})\.(.+)")


def holds_hugging_face(folder: Path) -> bool:
    """Whether weights lie in the folder under a name that transformers gives them."""
    names = [name for one in ONE_FILE for name in (one, INDEX.format(one))]
    return any((folder / name).is_file() for name in names)


def read_hugging_face(folder: Path) -> FoundWeights:
    """Weights of a folder, and the sizes that its config.json states.

    Raises CheckpointError for a configuration that no Whisper has, NotACheckpoint, UnsafeCheckpoint
    for files, MissingKeys and UnknownKeys for tensors that are not as an index lists them.
    """
    stated = _read_config(folder / "config.json")
    weights = _without_prefix(_read(folder))
    take_projection(weights, PROJECTION, TOKENS)
    return FoundWeights({_renamed(name): weight for name, weight in weights.items()}, stated)


def _without_prefix(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Names as those of transformers' model without its output layer."""
    short = {name.removeprefix("model."): weight for name, weight in weights.items()}
    if len(short) < len(weights):
        raise UnknownKeys(f"model.{name}" for name in short.keys() & weights.keys())
    return short


def _read_config(path: Path) -> dict[str, int]:
    config = _read_json(path)
    for key, wanted in ONLY_VALUES.items():
        if (found := config.get(key, wanted)) != wanted or type(found) is not type(wanted):
            raise CheckpointError(f"{path} has {key} {quote(found)}, and {wanted!r} in a Whisper")
    for key in SIZES:
        if type(config.get(key)) is not int or config[key] < 0:
            raise CheckpointError(f"{path} has {key} {quote(config.get(key))}, which is no size")
    return {field: config[key] for key, names in SIZES.items() for field in names}


def _read(folder: Path) -> dict[str, Tensor]:
    """All tensors, from one file or from those of an index."""
    for name, read in ONE_FILE.items():
        if (folder / name).is_file():
            return read(folder / name)
        index = folder / INDEX.format(name)
        if index.is_file():
            return _read_shards(index, read)
    raise CheckpointError(f"{folder} holds no weights")


def _read_shards(index: Path, read: Callable[[Path], dict[str, Tensor]]) -> dict[str, Tensor]:
    weight_map = _read_json(index).get("weight_map")
    if not isinstance(weight_map, Mapping) or not weight_map:
        raise CheckpointError(f"{index} lists no weights")
    weights: dict[str, Tensor] = {}
    for shard in sorted({_plain_name(index, name) for name in weight_map.values()}):
        listed = {key for key, name in weight_map.items() if name == shard}
        found = read(index.parent / shard)
        if missing := listed - found.keys():
            raise MissingKeys(missing)
        if unknown := found.keys() - listed:
            raise UnknownKeys(unknown)
        weights |= found
    return weights


def _plain_name(index: Path, name: object) -> str:
    """A file beside the index. Raises UnsafeCheckpoint for a path that leads elsewhere."""
    if not isinstance(name, str) or not PLAIN_NAME.fullmatch(name):
        raise UnsafeCheckpoint(f"{index} names {quote(name)}, which is no file beside it")
    return name


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_small_text(path))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} is no mapping")
    return content


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
