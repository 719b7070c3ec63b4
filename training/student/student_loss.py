"""What a student is to learn: labels, by two heads, and the frames of its teacher.

The teacher is a U2 model as it is, which hears whole recordings without noise, twice as many
frames a second. A student's frame t has heard what two of the teacher's hear, those before 2 t:
its stem is causal.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.u2.u2 import U2Model
from earshot.training.data.batch import Batch, CleanFeatures
from earshot.training.distil.distil_loss import mean_square, pooled
from earshot.training.distil.targets import Taught
from earshot.training.network.ctc_losses import ctc_losses
from earshot.training.network.losses import Losses
from earshot.training.recipe.student_config import StudentConfig
from earshot.training.transducer.label_windows import expected_labels, windows_about
from earshot.training.transducer.transducer_loss import transducer_losses

PAIR = 2
"""The teacher's frames for each of the student's."""


class StudentLoss:
    """Judges `model` by transcripts and by what `teacher` hears.

    units: the teacher's (V,) for each of the student's.
    """

    def __init__(
        self, model: FastConformerModel, teacher: U2Model, units: Tensor, config: StudentConfig
    ) -> None:
        self._model = model
        self._teacher = teacher.eval().requires_grad_(False)
        self._units = units
        self._config = config
        size = teacher.config.encoder.encoded_size
        self.projection = nn.Linear(model.config.encoder.size, size).to(units.device)

    def of(self, batch: Batch, rng: np.random.Generator) -> Losses:
        """The losses in one of the student's contexts: nats a token, and the mean square."""
        assert batch.clean_features is not None
        contexts = self._model.config.encoder.contexts
        context = contexts[int(rng.integers(len(contexts)))]
        taught, expected = self._taught(batch.clean_features, batch)
        heard = self._model.encode(batch.features, batch.feature_lengths, context)
        distance = self._distance(*heard, taught)
        tokens = batch.token_lengths.sum().clamp(min=1)
        nats = self._said(*heard, batch, expected).sum() / tokens
        ctc = self._spelled(*heard, batch).sum() / tokens
        config = self._config
        total = nats + config.ctc_weight * ctc + config.frames_weight * distance
        parts = {"loss_per_token": nats, "ctc_per_token": ctc, "l2": distance}
        return Losses(total, {name: float(each.detach()) for name, each in parts.items()})

    def _said(self, encoded: Tensor, lengths: Tensor, batch: Batch, expected: Tensor) -> Tensor:
        """The transducer's loss of each row (B,)."""
        head, config = self._model.transducer, self._config
        assert head is not None
        labels = batch.tokens, batch.token_lengths
        at_frames = frames_of_pairs(expected, encoded.size(1))
        windows = windows_about(at_frames, *labels, config.window_labels)
        return transducer_losses(head, encoded, lengths, *labels, windows, dropout=config.dropout)

    def _spelled(self, encoded: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        """CTC's loss of each row (B,)."""
        head, blank = self._model.ctc, self._model.config.vocab_size
        assert head is not None
        return ctc_losses(head(encoded), lengths, batch.tokens, batch.token_lengths, blank)

    @torch.no_grad()
    def _taught(self, clean: CleanFeatures, batch: Batch) -> tuple[Taught, Tensor]:
        """The means of pairs of the teacher's frames, and the labels (B, T) expected before each.

        Those are of the teacher's CTC head at the first frame of a pair.
        """
        teacher = self._teacher
        frames, lengths = teacher.encoder(*clean, -1, -1)
        expected = expected_labels(
            teacher.ctc_log_probs(frames),
            lengths,
            self._units[batch.tokens],
            batch.token_lengths,
            teacher.config.blank_id,
        )
        return Taught(*pooled(frames.float(), lengths, PAIR)), expected[:, ::PAIR]

    def _distance(self, encoded: Tensor, lengths: Tensor, taught: Taught) -> Tensor:
        heard = torch.minimum(lengths - 1, taught.lengths)
        return mean_square(self.projection(encoded[:, 1:]), taught.frames, heard)


def frames_of_pairs(pairs: Tensor, frames: int) -> Tensor:
    """Numbers of labels (B, P) before pairs of the teacher's frames as before a student's frames.

    Its first frame comes before all pairs, of those behind the last one all has been said.
    """
    padded = functional.pad(pairs, (1, max(0, frames - 1 - pairs.size(1))), mode="replicate")
    found = padded[:, :frames].clone()
    found[:, 0] = 0.0
    return found
