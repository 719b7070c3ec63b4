"""How far a student's frames are from its teacher's on development recordings, chunk by chunk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.models.u2.u2 import U2Model
from earshot.training.data.speech import Speech
from earshot.training.distil.distil_loss import mean_square, pooled
from earshot.training.distil.kept_frames import KeptFrames
from earshot.training.distil.student_frames import StudentFrames
from earshot.training.distil.teacher import FRAME_FEATURES, Teacher
from earshot.training.measuring.greedy import length_batches

STUDENT_PAD_FRAMES = 50  # feature frames of silence that the student hears after a recording


class DistilYardstick:
    """Measures students on `speech`, whose recordings the teacher has heard whole, in `folder`."""

    judge = "dev_l2"

    def __init__(self, speech: Speech, teacher: Teacher, folder: Path) -> None:
        self._speech = speech
        self._teacher = teacher
        lengths = [speech.frame_count(index) // FRAME_FEATURES for index in range(len(speech))]
        self._lengths = lengths
        self._kept = KeptFrames(
            folder, speech.utterances, lengths, teacher.size, teacher.checksum()
        )

    @torch.no_grad()
    def measure(self, model: U2Model, chunk_size: int) -> dict[str, float]:
        """The mean square of the difference: of every corpus, and the mean of these.

        Chunk by chunk, as streamed. Leaves the model in evaluation mode.
        """
        model.eval()
        student = StudentFrames(model)
        found: dict[str, list[float]] = defaultdict(list)
        counts = [self._speech.frame_count(index) for index in range(len(self._speech))]
        with student:
            for indices in length_batches(counts):
                rows = [self._heard(index) for index in indices]
                features = pad_sequence(rows, batch_first=True).to(self._teacher.device)
                lengths = torch.tensor([len(row) for row in rows]).to(features.device)
                model.encoder(features, lengths, chunk_size, -1)
                self._compare(student.frames.cpu(), indices, student.rate, found)
        means = {corpus: sum(each) / len(each) for corpus, each in found.items()}
        return {
            "dev_l2": sum(means.values()) / len(means),
            **{f"dev_l2_{corpus}": value for corpus, value in means.items()},
        }

    def _heard(self, index: int) -> Tensor:
        features = torch.from_numpy(self._speech.features(index))
        silence = self._teacher.extractor.silence
        return torch.cat((features, silence.expand(STUDENT_PAD_FRAMES, -1)))

    def _compare(
        self, student: Tensor, indices: Sequence[int], rate: int, found: dict[str, list[float]]
    ) -> None:
        for row, index in enumerate(indices):
            frames, lengths = pooled(
                self._frames(index).unsqueeze(0),
                torch.tensor([self._lengths[index]]),
                rate,
            )
            difference = mean_square(student[row : row + 1], frames, lengths)
            found[self._speech.utterances[index].corpus].append(float(difference))

    def _frames(self, index: int) -> Tensor:
        def compute() -> Tensor:
            features = torch.from_numpy(self._speech.features(index)).to(self._teacher.device)
            return self._teacher.of_features(features)[: self._lengths[index]]

        return self._kept.frames(index, compute).float()
