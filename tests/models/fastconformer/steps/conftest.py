"""Chunk steps of both kinds, for each kind of processor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.chunk_step import ChunkStep
from earshot.models.fastconformer.steps.native_encoder import NativeEncoder, Reach
from earshot.models.fastconformer.steps.native_step import NativeChunkStep
from earshot.models.fastconformer.steps.torch_step import TorchChunkStep
from earshot.models.native.weights import processors


@pytest.fixture(scope="session", params=["torch", *processors()])
def make_step(request: pytest.FixtureRequest) -> Callable[..., ChunkStep]:
    """A step of an encoder in a context, over rings of `capacity` frames, by default its own."""

    def make(
        encoder: FastConformerEncoder, context: AttentionContext, capacity: int | None = None
    ) -> ChunkStep:
        if request.param == "torch":
            return TorchChunkStep(encoder, context, capacity)
        chunk = context.right + 1
        keys = (max(context.left, 0) if capacity is None else capacity) + chunk
        native = NativeEncoder(encoder, Reach(chunk, keys), request.param)
        return NativeChunkStep(encoder, context, capacity, native)

    return make


@pytest.fixture(scope="session", params=processors())
def processor(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    """Sets torch's number of threads, which it has again after the test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)
