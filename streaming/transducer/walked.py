"""What a walk over a chunk has found, as streams divide it among their segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.decoder_kernels.transducer.label_loop import ChunkLabels, LoopMemory
from earshot.streaming.errors import OutputNotFinite
from earshot.streaming.stream.lane import Lane
from earshot.streaming.transducer.greedy_loop import GreedyLoop
from earshot.streaming.transducer.transcript import Transcript


@dataclass(frozen=True, eq=False)
class Walked:
    """The labels of a chunk, and the memory after it."""

    transcript: Transcript
    after: LoopMemory

    def to(self, device: torch.device) -> Walked:
        """The same with its memory on a device."""
        return Walked(self.transcript, self.after.to(device))


def walk_over(loop: GreedyLoop, lanes: Sequence[Lane], before: Sequence[LoopMemory]) -> None:
    """Give each lane what is found in its frames, as its output.

    Raises OutputNotFinite where the network's output is not finite; other lanes have theirs then.
    """
    chunks: list[Tensor] = [lane.encoded for lane in lanes]
    found = loop(chunks, before, [lane.stream.slot for lane in lanes])
    for lane, walked in zip(lanes, found, strict=True):
        if walked is not None:
            lane.output = Walked(transcript_of_chunk(walked), walked.after)
    if None in found:
        raise OutputNotFinite


def transcript_of_chunk(walked: ChunkLabels) -> Transcript:
    """The labels of a chunk as a stretch of frames."""
    lasting = zip(walked.frames, walked.durations, strict=True)
    return Transcript(
        tuple(walked.tokens),
        tuple(walked.frames),
        tuple(frame + duration for frame, duration in lasting),
        tuple(walked.log_probs),
        tuple(walked.blank_log_probs),
    )
