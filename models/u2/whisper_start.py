"""An encoder that starts with the weights of Whisper's (Radford 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor

from earshot.models.config import EncoderConfig
from earshot.models.errors import CheckpointError, MissingKeys, ShapeMismatch, UnknownKeys
from earshot.models.layers.positional import whisper_positions
from earshot.models.u2.encoder import Encoder

PREFIX = "encoder."
POSITIONS = PREFIX + "positional_embedding"
POSITION_ERROR = 1e-3
"""Between the file's table, often of 16 bits, and ours."""

FEED_FORWARD_FACTOR = 4
NORM_EPS = 1e-5

STEM_NAMES = {"conv1": "embed.conv1", "conv2": "embed.conv2", "ln_post": "after_norm"}
BLOCK_NAMES = {
    "attn.query": "self_attn.linear_q",
    "attn.key": "self_attn.linear_k",
    "attn.value": "self_attn.linear_v",
    "attn.out": "self_attn.linear_out",
    "attn_ln": "norm1",
    "mlp.0": "feed_forward.w_1",
    "mlp.2": "feed_forward.w_2",
    "mlp_ln": "norm2",
}


class AudioDims(Protocol):
    """Sizes of a Whisper's encoder."""

    @property
    def mels(self) -> int:
        """Mel bins."""

    @property
    def audio_size(self) -> int:
        """Width of the blocks."""

    @property
    def audio_heads(self) -> int:
        """Heads of attention."""

    @property
    def audio_blocks(self) -> int:
        """Blocks."""


class WhisperTensors(Protocol):
    """A Whisper's weights."""

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """Float32, under OpenAI's names; those of the decoder may be among them."""


def whisper_encoder_config(
    dims: AudioDims, pool_after_block: int | None = None, narrow: int | None = None, **changes: Any
) -> EncoderConfig:
    """The encoder that has a place for all of a Whisper encoder's weights.

    pool_after_block, narrow and any other field: see `EncoderConfig`, whose errors it raises.
    """
    values: dict[str, Any] = {
        "kind": "transformer",
        "input_dim": dims.mels,
        "output_size": dims.audio_size,
        "attention_heads": dims.audio_heads,
        "linear_units": FEED_FORWARD_FACTOR * dims.audio_size,
        "num_blocks": dims.audio_blocks,
        "input_layer": "whisper",
        "positions": "whisper",
        "activation": "gelu",
        "norm_eps": NORM_EPS,
        "pool_after_block": pool_after_block,
        "narrow": narrow,
    }
    return EncoderConfig(**{**values, **changes})


@torch.no_grad()
def start_from_whisper(encoder: Encoder, checkpoint: WhisperTensors) -> None:
    """Copy a Whisper encoder's weights into ours; the layer `narrow` keeps its own.

    Features stay as they are: Whisper has no statistics of them. Raises MissingKeys, UnknownKeys or
    ShapeMismatch for weights that are not this encoder's, and CheckpointError for a table of
    positions that is not Whisper's.
    """
    found = dict(checkpoint.tensors)
    _check_positions(found, encoder.config.output_size)
    own = encoder.state_dict()
    names = whisper_names(encoder.config.num_blocks)
    theirs = {name: tensor for name, tensor in found.items() if _is_weight(name)}
    _check_weights({name: own[place] for name, place in names.items()}, theirs)
    for name, place in names.items():
        own[place].copy_(theirs[name])
    for layer in encoder.layers:
        layer.self_attn.linear_k.bias.zero_()  # it would move a query's scores all alike
    encoder.global_cmvn.mean.zero_()
    encoder.global_cmvn.istd.fill_(1.0)


def whisper_names(num_blocks: int) -> dict[str, str]:
    """OpenAI's name of each of an encoder's weights, and ours."""
    pairs = dict(STEM_NAMES)
    for block in range(num_blocks):
        places = {f"blocks.{block}.{name}": place for name, place in BLOCK_NAMES.items()}
        pairs |= {name: f"encoders.{block}.{place}" for name, place in places.items()}
    return {
        f"{PREFIX}{name}.{part}": f"{place}.{part}"
        for name, place in pairs.items()
        for part in ("weight", "bias")
        if (name.endswith("attn.key"), part) != (True, "bias")
    }


def _is_weight(name: str) -> bool:
    return name.startswith(PREFIX) and name != POSITIONS


def _check_weights(wanted: Mapping[str, Tensor], found: Mapping[str, Tensor]) -> None:
    if missing := wanted.keys() - found.keys():
        raise MissingKeys(missing)
    if unknown := found.keys() - wanted.keys():
        raise UnknownKeys(unknown)
    for name, tensor in wanted.items():
        if found[name].shape != tensor.shape:
            raise ShapeMismatch(
                f"{name} is {tuple(found[name].shape)} in the file, {tuple(tensor.shape)} wanted"
            )


def _check_positions(found: Mapping[str, Tensor], size: int) -> None:
    if POSITIONS not in found:
        raise MissingKeys([POSITIONS])
    table = found[POSITIONS]
    if table.dim() != 2 or table.size(1) != size:
        raise ShapeMismatch(f"{POSITIONS} is {tuple(table.shape)} in the file, (N, {size}) wanted")
    expected = whisper_positions(torch.arange(len(table)), size)
    if not torch.allclose(table.float(), expected, rtol=0.0, atol=POSITION_ERROR):
        raise CheckpointError(f"{POSITIONS} holds other positions than Whisper's sines and cosines")
