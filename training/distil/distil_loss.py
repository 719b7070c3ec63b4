"""The difference between a student's frames and its teacher's.

The student is the encoder under a chunk mask; nothing but its last norm's output is compared, which
is what the teacher's decoder was trained on. So a recording needs no transcript (Hinton 2015;
for frames: FitNets, Romero 2015).
"""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models.u2.u2 import U2Model
from earshot.training.distil.student_frames import StudentFrames
from earshot.training.distil.targets import Targets, Taught


def pooled(frames: Tensor, lengths: Tensor, rate: int) -> tuple[Tensor, Tensor]:
    """Means of `rate` frames each of `(B, T, D)`, and how many there are of each row `(B,)`."""
    if rate == 1:
        return frames, lengths
    batch, frames_there, size = frames.shape
    count = frames_there // rate
    means = frames[:, : count * rate].reshape(batch, count, rate, size).mean(dim=2)
    return means, lengths // rate


def mean_square(student: Tensor, teacher: Tensor, lengths: Tensor) -> Tensor:
    """The mean square of the difference over D and over the first `lengths` `(B,)` frames.

    student (B, T, D), teacher (B, T', D); frames that one of them lacks do not count. Zero if none
    is left.
    """
    frames = min(student.size(1), teacher.size(1))
    squares = (student[:, :frames].float() - teacher[:, :frames]).square().mean(dim=2)
    return mean_over_frames(squares, lengths)


def mean_over_frames(values: Tensor, lengths: Tensor) -> Tensor:
    """The mean of `(B, T)` over the first `lengths` `(B,)` frames of each row; zero of none."""
    counted = torch.arange(values.size(1), device=lengths.device) < lengths.unsqueeze(1)
    mean: Tensor = (values * counted).sum() / counted.sum().clamp(min=1)
    return mean


class DistilLoss:
    """Compares what a model's encoder has just put out with what the teacher does."""

    def __init__(self, model: U2Model, targets: Targets) -> None:
        self.targets = targets
        self._encoder = model.encoder
        self._student = StudentFrames(model).watch()

    def of(self, taught: Taught, feature_lengths: Tensor) -> Tensor:
        """The mean square for the batch just encoded, of which the teacher has `taught`."""
        frames, lengths = pooled(*taught, self._student.rate)
        heard = self._encoder.output_lengths(feature_lengths)
        return mean_square(self._student.frames, frames, torch.minimum(lengths, heard))
