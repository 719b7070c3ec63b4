"""Cache-aware streaming (Noroozi 2024): chunks of the contexts that a model was trained in."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from earshot.models.errors import NotStreamable
from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.choice import chunk_steps
from earshot.models.fastconformer.steps.chunk_step import (
    ENDLESS,
    ChunkStep,
    HeardChunk,
    require_streamable,
)
from earshot.models.fastconformer.steps.state import FastConformerState
from earshot.models.native.precision import Precision
from earshot.streaming.fastconformer.hearing import Heard, by_chunking, windows_of
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.chunking import Chunking
from earshot.streaming.stream.lane import Lane


class CachedHearing:
    """Chunks of `right + 1` frames with rings of keys and values behind them; see `Hearing`.

    Every context has a chunk of its own size, and streams of one engine may differ in theirs.
    """

    buffered = False
    file_chunking = None

    def __init__(
        self,
        encoder: FastConformerEncoder,
        contexts: Sequence[AttentionContext],
        feature_ms: float,
        slots: int,
        precision: Precision = "float32",
    ) -> None:
        """contexts: the first is the default. Raises NotStreamable."""
        steps = chunk_steps(encoder, contexts, _capacity(contexts), precision)
        self._steps = {step.chunk: step for step in steps}
        self._state: FastConformerState = steps[0].start(slots)
        self.device = steps[0].device
        self.chunking = _chunking(steps[0], feature_ms)
        self.chunkings = [_chunking(step, feature_ms) for step in steps]

    def __call__(self, lanes: Sequence[Lane]) -> Heard:
        """One batch for each size of chunk among the lanes."""
        encoded: dict[Lane, Tensor] = {}
        moves = []
        for chunking, ours in by_chunking(lanes):
            heard = self._hear(self._steps[chunking.chunk_size], ours)
            moves.append((ours, heard.keep))
            for lane, frames in zip(ours, heard.encoded, strict=True):
                # A copy: a view would keep the whole batch alive as long as the segment.
                encoded[lane] = frames[: lane.cut.frames].clone()
        return Heard([encoded[lane] for lane in lanes], moves)

    def memory_of(self, slot: int) -> object:
        """A copy of the slot's rings, and of its place."""
        return self._state.row(slot)

    def recall(self, slot: int, memory: object) -> None:
        """Have the stream in a slot remember that."""
        assert isinstance(memory, FastConformerState)
        self._state.set_row(slot, memory)

    def reset(self, slots: Sequence[int]) -> None:
        """Forget what the streams in these slots have heard."""
        self._state.reset(torch.tensor(slots, device=self.device))

    def _hear(self, step: ChunkStep, lanes: Sequence[Lane]) -> HeardChunk:
        windows = windows_of(lanes, step.window, step.window_before).to(self.device)
        slots = torch.tensor([lane.stream.slot for lane in lanes], device=self.device)
        lengths = [_length(lane.stream) for lane in lanes]
        return step.hear(self._state, slots, windows, torch.tensor(lengths, device=self.device))


def cached_contexts(config: FastConformerConfig) -> list[AttentionContext]:
    """The contexts of an encoder that it can stream in with a cache; maybe none.

    Of those with chunks of one size the first.
    """
    by_chunk: dict[int, AttentionContext] = {}
    for context in config.contexts:
        if _is_streamable(config, context):
            by_chunk.setdefault(context.right + 1, context)
    return list(by_chunk.values())


def _is_streamable(config: FastConformerConfig, context: AttentionContext) -> bool:
    try:
        require_streamable(config, context)
    except NotStreamable:
        return False
    return True


def _capacity(contexts: Sequence[AttentionContext]) -> int:
    """Frames of the rings: what is heard, and room for a chunk where anything is."""
    left = max(context.left for context in contexts)
    return max(left, *(context.right + 1 for context in contexts)) if left else 0


def _chunking(step: ChunkStep, feature_ms: float) -> Chunking:
    stem = step.stem
    before = step.window_before
    return Chunking(
        chunk_size=step.chunk,
        rate=stem.rate,
        right_context=step.window - before - (step.chunk - 1) * stem.rate - 1,
        feature_ms=feature_ms,
        left_context=before,
        closing=stem.frames_ahead,
    )


def _length(stream: ActiveStream) -> int:
    """Feature frames of the stream, once that is known."""
    return stream.track.available if stream.track.ended else ENDLESS
