"""What a student is to learn: labels, by two heads, and its teacher's frames and posteriors.

The teacher is a U2 model as it is, which hears whole recordings without noise, twice as many
frames a second. A student's frame t has heard what two of the teacher's hear, those before 2 t:
its stem is causal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.u2.u2 import U2Model
from earshot.training.data.batch import Batch, CleanFeatures
from earshot.training.distil.distil_loss import mean_over_frames, mean_square, pooled
from earshot.training.distil.targets import Taught
from earshot.training.network.ctc_losses import ctc_losses
from earshot.training.network.losses import Losses
from earshot.training.recipe.student_config import StudentConfig
from earshot.training.transducer.label_windows import expected_labels, windows_about
from earshot.training.transducer.transducer_loss import transducer_losses

PAIR = 2
"""The teacher's frames for each of the student's."""


class Lesson(NamedTuple):
    """What the teacher tells of a batch, by pairs of its frames.

    frames: their means. expected: labels (B, P) before each, of its CTC head. spelled: of that
    frame of each pair which is less likely blank, log-probabilities (B, P, V + 1) of the student's
    labels and the blank.
    """

    frames: Taught
    expected: Tensor
    spelled: Tensor


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
        blank = units.new_tensor([teacher.config.blank_id])
        self._outputs = torch.cat([units, blank])  # the teacher's, for each of the student's
        self._config = config
        size = teacher.config.encoder.encoded_size
        self.projection = nn.Linear(model.config.encoder.size, size).to(units.device)

    def of(self, batch: Batch, rng: np.random.Generator) -> Losses:
        """The losses in one of the student's contexts: nats a token, and the mean square."""
        assert batch.clean_features is not None
        contexts = self._model.config.encoder.contexts
        context = contexts[int(rng.integers(len(contexts)))]
        lesson = self._lesson(batch.clean_features, batch)
        heard = self._model.encode(batch.features, batch.feature_lengths, context)
        tokens = batch.token_lengths.sum().clamp(min=1)
        nats = self._said(*heard, batch, lesson.expected).sum() / tokens
        spelled = self._head(heard[0])
        ctc = self._ctc(spelled, heard[1], batch).sum() / tokens
        distance = self._distance(*heard, lesson.frames)
        divergence = self._divergence(spelled, heard[1], lesson)
        config = self._config
        total = nats + config.ctc_weight * ctc
        total = total + config.frames_weight * distance + config.posteriors_weight * divergence
        parts = {"loss_per_token": nats, "ctc_per_token": ctc, "l2": distance, "kl": divergence}
        return Losses(total, {name: float(each.detach()) for name, each in parts.items()})

    def _said(self, encoded: Tensor, lengths: Tensor, batch: Batch, expected: Tensor) -> Tensor:
        """The transducer's loss of each row (B,)."""
        head, config = self._model.transducer, self._config
        assert head is not None
        labels = batch.tokens, batch.token_lengths
        at_frames = frames_of_pairs(expected, encoded.size(1))
        windows = windows_about(at_frames, *labels, config.window_labels)
        return transducer_losses(head, encoded, lengths, *labels, windows, dropout=config.dropout)

    def _head(self, encoded: Tensor) -> Tensor:
        """Log-probabilities (B, T, V + 1) of the student's CTC head."""
        assert self._model.ctc is not None
        spelled: Tensor = self._model.ctc(encoded).float()
        return spelled

    def _ctc(self, spelled: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        """CTC's loss of each row (B,)."""
        blank = self._model.config.vocab_size
        return ctc_losses(spelled, lengths, batch.tokens, batch.token_lengths, blank)

    @torch.no_grad()
    def _lesson(self, clean: CleanFeatures, batch: Batch) -> Lesson:
        """Labels are expected by the first frame of each pair."""
        teacher = self._teacher
        frames, lengths = teacher.encoder(*clean, -1, -1)
        log_probs = teacher.ctc_log_probs(frames)
        blank = teacher.config.blank_id
        tokens = self._units[batch.tokens]
        expected = expected_labels(log_probs, lengths, tokens, batch.token_lengths, blank)
        return Lesson(
            Taught(*pooled(frames.float(), lengths, PAIR)),
            expected[:, ::PAIR],
            sharper_of_pairs(log_probs, blank)[..., self._outputs],
        )

    def _distance(self, encoded: Tensor, lengths: Tensor, taught: Taught) -> Tensor:
        heard = torch.minimum(lengths - 1, taught.lengths)
        return mean_square(self.projection(encoded[:, 1:]), taught.frames, heard)

    def _divergence(self, spelled: Tensor, lengths: Tensor, lesson: Lesson) -> Tensor:
        """Nats a frame from the teacher's CTC posteriors to the student's."""
        pairs = min(spelled.size(1) - 1, lesson.spelled.size(1))
        ours, theirs = spelled[:, 1 : 1 + pairs], lesson.spelled[:, :pairs].float()
        nats = parted_divergence(ours, theirs)
        return mean_over_frames(nats, torch.minimum(lengths - 1, lesson.frames.lengths))


def parted_divergence(ours: Tensor, theirs: Tensor) -> Tensor:
    """Nats (...) from `theirs` to `ours`, log-probabilities (..., V + 1) with the blank last.

    Whether a label is said, and which one, are two divergences that count alike (Zhao 2022,
    decoupled distillation). In their product, as the plain divergence has it, a frame that is most
    likely blank would tell nothing of labels, of whose likeness it tells as much as others.
    """
    said, labels = zip(*map(_parted, (theirs, ours)), strict=True)
    return _nats(*said) + _nats(*labels)


def _parted(log_probs: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities (..., 2) of a label and the blank, and of labels where one is said."""
    label = log_probs[..., :-1].logsumexp(dim=-1, keepdim=True)
    said = torch.cat([label, log_probs[..., -1:]], dim=-1)
    return said, log_probs[..., :-1] - label


def _nats(theirs: Tensor, ours: Tensor) -> Tensor:
    return (theirs.exp() * (theirs - ours)).sum(dim=-1)


def sharper_of_pairs(log_probs: Tensor, blank_id: int) -> Tensor:
    """That frame of each pair (B, T, V) which is less likely blank: (B, T // 2, V)."""
    batch, frames, size = log_probs.shape
    pairs = log_probs[:, : frames // PAIR * PAIR].reshape(batch, frames // PAIR, PAIR, size)
    place = pairs[..., blank_id].argmin(dim=2)[..., None, None].expand(-1, -1, 1, size)
    return pairs.gather(2, place).squeeze(2)


def frames_of_pairs(pairs: Tensor, frames: int) -> Tensor:
    """Numbers of labels (B, P) before pairs of the teacher's frames as before a student's frames.

    Its first frame comes before all pairs, of those behind the last one all has been said.
    """
    padded = functional.pad(pairs, (1, max(0, frames - 1 - pairs.size(1))), mode="replicate")
    found = padded[:, :frames].clone()
    found[:, 0] = 0.0
    return found
