"""What the decoders of many streams are given to do, and the table of how they did it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from benchmarks.wfst.ours import Batch
from benchmarks.wfst.posteriors import Utterance
from benchmarks.wfst.streams import NotRun, StreamDecoder, Timing, Words, measure

HEADER = (
    "posteriors", "streams", "pieces", "decoder", "times real time", "us per frame",
    "us per piece, p50", "p95", "times riva", "of the memory floor", "same words as ours",
)  # fmt: skip

Make = Callable[[int, torch.device], StreamDecoder]
Found = Timing | NotRun


@dataclass(frozen=True)
class Task:
    """Streams side by side, in pieces of ``chunk_frames`` or whole; each has ``frames`` frames.

    ``floor_us``: what a frame's memory traffic takes at least. ``frame_ms``: of sound.
    """

    what: str
    utterances: Sequence[Utterance]
    streams: int
    frames: int
    chunk_frames: int | None
    rounds: int
    floor_us: float
    frame_ms: float

    def run(self, make: Make, device: torch.device) -> Timing:
        """Decode; the streams take the utterances in turn, from their beginnings."""
        rows = [
            torch.from_numpy(self.utterances[i % len(self.utterances)].log_probs[: self.frames])
            for i in range(self.streams)
        ]
        chunks = [chunk.to(device) for chunk in Batch.of(rows).chunks(self.chunk_frames)]
        return measure(make(self.streams, device), chunks, self.rounds, device)

    def rows(self, found: dict[str, Found], ours: str, peer: str) -> list[list[str]]:
        """Lines of the table, one for each decoder."""
        against = found.get(peer)
        peer_us = against.us_per_frame() if isinstance(against, Timing) else None
        mine = found[ours]
        words = mine.words if isinstance(mine, Timing) else ()
        pieces = f"{self.chunk_frames} frames" if self.chunk_frames else "whole"
        return [
            [self.what, f"{self.streams:,}", pieces, name, *self._columns(each, peer_us, words)]
            for name, each in found.items()
        ]

    def _columns(self, found: Found, peer_us: float | None, words: Sequence[Words]) -> list[str]:
        if isinstance(found, NotRun):
            reason = " ".join(str(found).split()).replace("|", "/")
            return [f"not run: {reason}", *[""] * (len(HEADER) - 5)]
        took = found.us_per_frame()
        return [
            f"{1e3 * self.frame_ms / took:,.0f}",
            f"{took:.2f}",
            f"{found.us_per_chunk(50):,.0f}",
            f"{found.us_per_chunk(95):,.0f}",
            f"{peer_us / took:.2f}" if peer_us else "",
            f"{100 * self.floor_us / took:.2g} %",
            same_words(found.words, words),
        ]


def same_words(found: Sequence[Words], ours: Sequence[Words]) -> str:
    """In how many streams two decoders agree; nothing to say of one that writes no words."""
    if not found or not ours:
        return ""
    return f"{sum(a == b for a, b in zip(found, ours, strict=True))} of {len(ours)}"
