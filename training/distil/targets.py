"""The frames that a student is to put out for a batch: its teacher's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.training.data.batch import CleanSound
from earshot.training.distil.kept_frames import KeptFrames
from earshot.training.distil.teacher import Teacher


class Taught(NamedTuple):
    """Frames `(B, T, D)`, float32, padded with zeros, and their numbers `(B,)`."""

    frames: Tensor
    lengths: Tensor


@dataclass(frozen=True)
class Targets:
    """A teacher, and its frames as far as they are kept: at each speed, of some recordings.

    places: where a recording of the training speech lies among those that are kept.
    """

    teacher: Teacher
    kept: Mapping[float, KeptFrames] = field(default_factory=dict)
    places: Mapping[int, int] = field(default_factory=dict)

    def of(self, clean: Sequence[CleanSound]) -> Taught:
        """What the teacher puts out for a batch."""
        rows = [self._frames(each) for each in clean]
        lengths = torch.tensor([len(frames) for frames in rows])
        device = self.teacher.device
        return Taught(pad_sequence(rows, batch_first=True).float().to(device), lengths.to(device))

    def _frames(self, clean: CleanSound) -> Tensor:
        kept = self.kept.get(clean.speed)
        place = self.places.get(clean.members[0]) if len(clean.members) == 1 else None
        if kept is None or place is None:
            return self.teacher.of_samples(clean.samples)
        return kept.frames(place, lambda: self.teacher.of_samples(clean.samples))
