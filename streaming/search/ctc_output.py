"""What a CTC encoder step leaves for the searches, and for the endpoint rules."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from earshot.streaming.errors import OutputNotFinite
from earshot.streaming.stream.endpoint import FrameEvidence
from earshot.streaming.stream.lane import Lane


@dataclass(frozen=True)
class FramePosteriors:
    """For each encoder frame: its likeliest token, that token's log-probability, the blank's."""

    tokens: Sequence[int]
    log_probs: Sequence[float]
    blank_log_probs: Sequence[float]

    def evidence(self, blank_id: int, blank_threshold: float) -> FrameEvidence:
        """Silent is a frame whose P(blank) is above the threshold."""
        threshold = math.log(blank_threshold)
        return FrameEvidence(
            silent=[log_prob > threshold for log_prob in self.blank_log_probs],
            spoken=[token != blank_id for token in self.tokens],
        )


@dataclass(frozen=True)
class CtcOutput:
    """log_probs `(T, V)` of a lane's frames, and what the host has to know of them."""

    log_probs: Tensor
    posteriors: FramePosteriors

    def since(self, frame: int) -> "CtcOutput":
        """That of the frames from there on."""
        found = self.posteriors
        rest = FramePosteriors(
            found.tokens[frame:], found.log_probs[frame:], found.blank_log_probs[frame:]
        )
        return CtcOutput(self.log_probs[frame:].clone(), rest)

    def to(self, device: torch.device) -> "CtcOutput":
        """The same on a device."""
        return CtcOutput(self.log_probs.to(device), self.posteriors)


def ctc_output(lane: Lane) -> CtcOutput:
    """That of a lane whose encoder step has a CTC head."""
    assert isinstance(lane.output, CtcOutput)
    return lane.output


def ctc_outputs(log_probs: Tensor, lengths: Sequence[int], blank_id: int) -> list[CtcOutput]:
    """Outputs of B lanes whose log-probabilities `(B, T, V)` are padded on the right.

    Raises OutputNotFinite when the network's output is not finite.
    """
    best_log_probs, best = log_probs.max(dim=-1)
    columns = (best, best_log_probs, log_probs[..., blank_id])
    rows = zip(*(column.tolist() for column in columns), strict=True)
    posteriors = [
        FramePosteriors(*(values[:length] for values in row))
        for row, length in zip(rows, lengths, strict=True)
    ]
    # The largest of some numbers is NaN or infinite if any of them is.
    if not all(map(math.isfinite, chain.from_iterable(row.log_probs for row in posteriors))):
        raise OutputNotFinite
    return [
        CtcOutput(row[:length], found)
        for row, length, found in zip(log_probs, lengths, posteriors, strict=True)
    ]
