"""Encoders of odd sizes, and streams in the midst of their sound."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from chunked_streams import CONFIG, make_encoder
from torch import Tensor

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.chunk_step import ENDLESS, ChunkStep, HeardChunk
from earshot.models.fastconformer.steps.native_encoder import NativeEncoder, Reach
from earshot.models.fastconformer.steps.native_step import NativeChunkStep
from earshot.models.fastconformer.steps.state import FastConformerState
from earshot.models.fastconformer.subsampling import ConvSubsampling
from earshot.models.native.precision import Precision

SLOTS = 5
CONTEXTS = (
    AttentionContext(6, 5),
    AttentionContext(8, 1),
    AttentionContext(3, 0),
    AttentionContext(0, 3),
)
LONG = (AttentionContext(52, 51), AttentionContext(40, 0))
"""Of chunks that are longer than the rows that look at each other in one go."""

ODD = replace(
    CONFIG,
    features_size=13,
    size=36,
    layers=2,
    heads=6,
    feed_forward_size=50,
    stem_channels=5,
    subsampling_factor=4,
    kernel=5,
    contexts=CONTEXTS,
)
ENCODERS: dict[str, dict[str, Any]] = {
    "layer_norm": {},
    "batch_norm": {"conv_norm": "batch_norm"},
    "no_bias": {
        "use_bias": False,
        "shared_positions": True,
        "scale_input": False,
        "conv_norm": "batch_norm",  # which sees what is added to all
    },
    "kernel_without_memory": {"kernel": 1},
    "kernel_longer_than_a_chunk": {"kernel": 12},
    "one_head": {"heads": 1, "conv_norm": "batch_norm"},
    "heads_of_two": {"heads": 18},
    "two_panels_and_a_half": {"size": 80, "heads": 2, "feed_forward_size": 176},
    "striding": {"subsampling": "striding", "subsampling_factor": 2},
    "rate_of_eight": {"subsampling_factor": 8, "features_size": 20, "stem_channels": 17},
}


@functools.cache
def odd_encoder(name: str = "layer_norm") -> FastConformerEncoder:
    return make_encoder(replace(ODD, **ENCODERS[name]))


@functools.cache
def native_steps(
    name: str,
    processor: str,
    contexts: tuple[AttentionContext, ...],
    capacity: int,
    precision: Precision = "float32",
) -> list[NativeChunkStep]:
    """A step in each context, of one set of weights."""
    encoder, longest = odd_encoder(name), max(context.right for context in contexts) + 1
    native = NativeEncoder(encoder, Reach(longest, capacity + longest), processor, precision)
    return [NativeChunkStep(encoder, context, capacity, native) for context in contexts]


def full_state(step: ChunkStep) -> FastConformerState:
    """Of streams one has not begun, one has put out a frame, others have filled their rings."""
    state, capacity = step.start(SLOTS), step.capacity
    state.offset[:] = torch.tensor([0, 1, capacity, capacity + 3, 6_001])
    state.cnn_cache[1:].normal_()
    for slot, offset in enumerate(state.offset.tolist()):
        state.att_cache[slot, :, :, : min(offset, capacity)].normal_()
    return state


def copied(state: FastConformerState) -> FastConformerState:
    return FastConformerState(*(tensor.clone() for tensor in vars(state).values()))


def lengths_of(stem: ConvSubsampling, frames: Tensor) -> Tensor:
    """A length of sound for each of so many frames, by chance one of those that there are."""
    lengths = torch.arange(stem.rate * (int(frames.max()) + 1))
    counts = stem.encoded_length(lengths)
    first, end = (torch.searchsorted(counts, frames, right=right) for right in (False, True))
    return first + (torch.rand(len(frames)) * (end - first)).long()


def sound(
    step: ChunkStep, state: FastConformerState, slots: Tensor, frames: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Windows of streams that have so many frames left, or go on; NaN where there is no sound."""
    stem, counts = step.stem, torch.tensor(frames)
    firsts = state.offset[slots]
    ended = lengths_of(stem, firsts + counts)
    goes_on = (counts == step.chunk) & (torch.rand(len(frames)) < 0.5)
    lengths = torch.where(goes_on, ENDLESS, ended)
    windows = torch.randn(len(frames), step.window, step.config.features_size)
    place = (firsts * stem.rate - stem.window_before).unsqueeze(1) + torch.arange(step.window)
    windows[(place < 0) | (place >= lengths.unsqueeze(1))] = torch.nan
    return windows, lengths


def bits_of(heard: HeardChunk, row: int) -> list[Tensor]:
    """What one lane heard and will remember."""
    count = int(heard.frames[row])
    columns = heard.columns[row, :, :, :count]
    return [heard.encoded[row, :count], columns, heard.gated[row], heard.frames[row]]


def assert_bits(found: Sequence[Tensor], expected: Sequence[Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
