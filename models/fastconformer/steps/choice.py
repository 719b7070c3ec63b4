"""The fastest steps of an encoder where it is; its weights must not change from then on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.chunk_step import ChunkStep
from earshot.models.fastconformer.steps.native_encoder import NativeEncoder, Reach
from earshot.models.fastconformer.steps.native_step import NativeChunkStep
from earshot.models.fastconformer.steps.torch_step import TorchChunkStep
from earshot.models.fastconformer.steps.whole_step import NativeWhole
from earshot.models.native.precision import Precision
from earshot.models.native.weights import runs_natively

WholeStep = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""Features (B, T, F) of lengths (B,) to frames (B, T', D) and lengths (B,)."""


def chunk_steps(
    encoder: FastConformerEncoder,
    contexts: Sequence[AttentionContext],
    capacity: int,
    precision: Precision = "float32",
) -> list[ChunkStep]:
    """A step in each context, over rings of `capacity` frames; native ones share their weights.

    precision: of native ones. Raises NotStreamable, see `ChunkStep`.
    """
    if not runs_natively(encoder):
        return [TorchChunkStep(encoder, context, capacity) for context in contexts]
    longest = max(context.right for context in contexts) + 1
    native = NativeEncoder(encoder, Reach(longest, capacity + longest), precision=precision)
    return [NativeChunkStep(encoder, context, capacity, native) for context in contexts]


def whole_step(
    encoder: FastConformerEncoder, longest: int, precision: Precision = "float32"
) -> WholeStep:
    """Utterances of at most `longest` feature frames, each by itself.

    precision: of a native one.
    """
    if runs_natively(encoder):
        return NativeWhole(encoder, longest, precision=precision)
    return encoder
