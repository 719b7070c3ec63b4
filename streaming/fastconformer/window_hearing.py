"""Windows with context on both sides, for encoders that were trained on whole utterances.

Of each window [left | chunk | right] the frames of the chunk are kept, as if it were an utterance
of its own: bounded memory for audio of any length. The heads' state goes on over windows, so no
texts are merged. An utterance within one window is heard exactly as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.choice import whole_step
from earshot.models.native.precision import Precision
from earshot.streaming.fastconformer.hearing import Heard, by_chunking, windows_of
from earshot.streaming.stream.chunking import Chunking
from earshot.streaming.stream.lane import Lane


@dataclass(frozen=True)
class WindowPlan:
    """Seconds of a window's parts; the right one is a frame shorter."""

    left: float
    chunk: float
    right: float


LIVE = WindowPlan(10, 2, 2)
"""A result comes 2 to 4 s after its sound; each second is encoded seven times."""

FILE = WindowPlan(10, 10, 5)
"""Each second is encoded two and a half times."""


class WindowHearing:
    """Each step's window by itself; see `Hearing`. There is no state."""

    buffered = True

    def __init__(
        self, encoder: FastConformerEncoder, feature_ms: float, precision: Precision = "float32"
    ) -> None:
        self._rate = encoder.pre_encode.rate
        self.device = encoder.pre_encode.out.weight.device
        self.chunking = _chunking(LIVE, encoder, feature_ms)
        self.file_chunking = _chunking(FILE, encoder, feature_ms)
        self.chunkings = [self.chunking, self.file_chunking]
        longest = max(each.left_context + each.window for each in self.chunkings)
        self._hear_whole = whole_step(encoder, longest, precision)

    def __call__(self, lanes: Sequence[Lane]) -> Heard:
        """One batch for each plan among the lanes: a file's windows are wider than live ones."""
        encoded: dict[Lane, Tensor] = {}
        for _, ours in by_chunking(lanes):
            encoded.update(zip(ours, self._hear(ours), strict=True))
        return Heard([encoded[lane] for lane in lanes])

    def _hear(self, lanes: Sequence[Lane]) -> list[Tensor]:
        """The frames of the lanes' chunks, by windows as wide as the widest."""
        left = [min(lane.stream.chunking.left_context, lane.stream.window_start) for lane in lanes]
        sizes = [own + lane.cut.window for own, lane in zip(left, lanes, strict=True)]
        windows = windows_of(lanes, max(sizes)).to(self.device)
        encoded, _ = self._hear_whole(windows, torch.tensor(sizes, device=self.device))
        starts = [own // self._rate for own in left]
        # Copies: views would keep the whole batch alive as long as the segment.
        return [
            row[start : start + lane.cut.frames].clone()
            for row, start, lane in zip(encoded, starts, lanes, strict=True)
        ]

    def memory_of(self, slot: int) -> object:
        """Nothing."""
        return None

    def recall(self, slot: int, memory: object) -> None:
        """There is nothing to remember."""

    def reset(self, slots: Sequence[int]) -> None:
        """There is nothing to forget."""


def _chunking(plan: WindowPlan, encoder: FastConformerEncoder, feature_ms: float) -> Chunking:
    stem = encoder.pre_encode
    frames = [
        round(seconds * 1000 / (stem.rate * feature_ms))
        for seconds in (plan.left, plan.chunk, plan.right)
    ]
    left, chunk, right = frames
    return Chunking(
        chunk_size=chunk,
        rate=stem.rate,
        right_context=right * stem.rate - 1,
        feature_ms=feature_ms,
        left_context=left * stem.rate,
        closing=stem.frames_ahead,
    )
