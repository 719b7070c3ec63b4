"""Chunk steps of both kinds, for each kind of processor."""

from __future__ import annotations

from collections.abc import Callable

import pytest

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
