"""Sizes of a Whisper, read off its own tensors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from earshot.models.errors import MissingKeys, ShapeMismatch, quote

HEAD_SIZE = 64
"""Every published Whisper has heads of 64."""
BLOCK = re.compile(r"(encoder|decoder)\.blocks\.(\d{1,4})\.")
# A tensor that tells a size, its number of axes, and which axis of it is which field.
AUDIO_SIZES = (
    ("encoder.conv1.weight", 3, {"audio_size": 0, "mels": 1}),
    ("encoder.positional_embedding", 2, {"audio_positions": 0}),
)
TEXT_SIZES = (
    ("decoder.token_embedding.weight", 2, {"vocabulary": 0, "text_size": 1}),
    ("decoder.positional_embedding", 2, {"text_positions": 0}),
)


@dataclass(frozen=True)
class WhisperDims:
    """Sizes of a Whisper; those of the text side are 0 for an encoder alone.

    audio_positions: frames of 20 ms. text_positions: tokens. Raises ShapeMismatch for heads that do
    not divide their side's size.
    """

    mels: int
    audio_positions: int
    audio_size: int
    audio_heads: int
    audio_blocks: int
    vocabulary: int = 0
    text_positions: int = 0
    text_size: int = 0
    text_heads: int = 0
    text_blocks: int = 0

    def __post_init__(self) -> None:
        if self.text_size:
            _require_heads("decoder", self.text_size, self.text_heads)
        _require_heads("encoder", self.audio_size, self.audio_heads)


def _require_heads(side: str, size: int, heads: int) -> None:
    if heads < 1 or size < 1 or size % heads:
        raise ShapeMismatch(f"the {side}'s {size} channels do not fall into {heads} heads")


def read_dims(tensors: Mapping[str, Tensor], stated: Mapping[str, int]) -> WhisperDims:
    """Sizes of the tensors, which must be those that the file states where it states some.

    tensors: under OpenAI's names. stated: fields of WhisperDims; heads, which no shape tells, are
    of 64 channels where it is silent. Raises MissingKeys, ShapeMismatch.
    """
    sizes = {field.name: 0 for field in fields(WhisperDims)}
    _measure(sizes, tensors, AUDIO_SIZES, "audio", "encoder")
    if any(name.startswith("decoder.") for name in tensors):
        _measure(sizes, tensors, TEXT_SIZES, "text", "decoder")
    for name, value in stated.items():
        if name.endswith("heads") and (sizes["text_size"] or name == "audio_heads"):
            sizes[name] = value
        if sizes[name] != value:
            raise ShapeMismatch(
                f"the file states {name} {quote(value)}, its tensors have {sizes[name]}"
            )
    return WhisperDims(**sizes)


def _measure(
    sizes: dict[str, int],
    tensors: Mapping[str, Tensor],
    telling: tuple[tuple[str, int, dict[str, int]], ...],
    prefix: str,
    side: str,
) -> None:
    """Puts one side's sizes into `sizes`."""
    for name, axes, told in telling:
        shape = _shape(tensors, name, axes)
        sizes |= {field: shape[axis] for field, axis in told.items()}
    found = (BLOCK.match(name) for name in tensors)
    # Their count, not the highest: a name must not make us expect a million blocks.
    blocks = {int(block[2]) for block in found if block and block[1] == side}
    sizes[f"{prefix}_blocks"] = len(blocks)
    sizes[f"{prefix}_heads"] = _heads_of_64(side, sizes[f"{prefix}_size"])


def _heads_of_64(side: str, size: int) -> int:
    """Number of heads of 64 channels; 0, which is refused, where they do not come out even."""
    return 0 if size % HEAD_SIZE else size // HEAD_SIZE


def _shape(tensors: Mapping[str, Tensor], name: str, axes: int) -> torch.Size:
    if name not in tensors:
        raise MissingKeys([name])
    shape = tensors[name].shape
    if len(shape) != axes:
        raise ShapeMismatch(f"{name} is {tuple(shape)}, which should have {axes} axes")
    return shape
