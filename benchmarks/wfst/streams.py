"""Many streams on one device: each chunk of all of them is timed, from posteriors to words."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from benchmarks.wfst.ours import Batch

Words = tuple[int, ...]


class NotRun(Exception):
    """A decoder cannot run here; the message says why, and what it would need."""


class StreamDecoder(Protocol):
    """A decoder of many streams at once."""

    def prepare(self, chunks: Sequence[Batch]) -> None:
        """Bring the chunks into the form that the decoder takes. Not timed."""

    def start(self) -> None:
        """Begin all streams anew. Not timed."""

    def advance(self, index: int) -> None:
        """Decode chunk ``index`` of all streams, partial results included. Timed."""

    def words(self) -> list[Words]:
        """The words of each stream after the last chunk; nothing if it writes no words."""


@dataclass(frozen=True)
class Timing:
    """Seconds of each chunk over all rounds, the frames in them, and what was recognised last."""

    seconds: Sequence[float]
    frames: int
    words: Sequence[Words]

    def us_per_frame(self) -> float:
        """Of one frame of one stream; the streams share the time."""
        return 1e6 * sum(self.seconds) / self.frames

    def us_per_chunk(self, percentile: float) -> float:
        """Of one chunk of all streams."""
        return 1e6 * float(np.percentile(self.seconds, percentile))


def measure(
    decoder: StreamDecoder, chunks: Sequence[Batch], rounds: int, device: torch.device
) -> Timing:
    """Decode the streams ``rounds`` times, after once to warm up."""
    decoder.prepare(chunks)
    seconds: list[float] = []
    for i in range(rounds + 1):
        decoder.start()
        wait(device)
        for index in range(len(chunks)):
            began = time.perf_counter()
            decoder.advance(index)
            wait(device)
            if i:
                seconds.append(time.perf_counter() - began)
    frames = rounds * sum(chunk.frames for chunk in chunks)
    return Timing(seconds, frames, decoder.words())


def wait(device: torch.device) -> None:
    """Until the device has done everything."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
