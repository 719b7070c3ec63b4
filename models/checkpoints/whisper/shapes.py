"""Names and shapes of all tensors of a Whisper, as OpenAI's own code calls them."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from earshot.models.checkpoints.whisper.dims import WhisperDims

FEED_FORWARD_FACTOR = 4
KERNEL = 3

Shapes = Iterator[tuple[str, tuple[int, ...]]]


def expected_tensors(dims: WhisperDims) -> dict[str, Tensor]:
    """Every tensor that a Whisper of these sizes has: shapes without memory.

    Without a text side, the encoder's alone.
    """
    shapes = dict(_encoder(dims))
    if dims.text_size:
        shapes |= dict(_decoder(dims))
    return {name: torch.empty(shape, device="meta") for name, shape in shapes.items()}


def _encoder(dims: WhisperDims) -> Shapes:
    size = dims.audio_size
    yield from _weighted("encoder.conv1", (size, dims.mels, KERNEL))
    yield from _weighted("encoder.conv2", (size, size, KERNEL))
    yield "encoder.positional_embedding", (dims.audio_positions, size)
    for block in range(dims.audio_blocks):
        yield from _block(f"encoder.blocks.{block}", size, ("attn",))
    yield from _weighted("encoder.ln_post", (size,))


def _decoder(dims: WhisperDims) -> Shapes:
    size = dims.text_size
    yield "decoder.token_embedding.weight", (dims.vocabulary, size)
    yield "decoder.positional_embedding", (dims.text_positions, size)
    for block in range(dims.text_blocks):
        yield from _block(f"decoder.blocks.{block}", size, ("attn", "cross_attn"))
    yield from _weighted("decoder.ln", (size,))


def _block(name: str, size: int, attentions: tuple[str, ...]) -> Shapes:
    for attention in attentions:
        yield from _attention(f"{name}.{attention}", size)
    yield from _weighted(f"{name}.mlp_ln", (size,))
    yield from _weighted(f"{name}.mlp.0", (FEED_FORWARD_FACTOR * size, size))
    yield from _weighted(f"{name}.mlp.2", (size, FEED_FORWARD_FACTOR * size))


def _attention(name: str, size: int) -> Shapes:
    """A key has no bias: it would move all scores of a query alike."""
    yield from _weighted(f"{name}_ln", (size,))
    for projection in ("query", "value", "out"):
        yield from _weighted(f"{name}.{projection}", (size, size))
    yield f"{name}.key.weight", (size, size)


def _weighted(name: str, shape: tuple[int, ...]) -> Shapes:
    yield f"{name}.weight", shape
    yield f"{name}.bias", shape[:1]
