"""The objective of a run: the losses of its recipe, in one sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor, nn

from earshot.training.data.batch import Batch
from earshot.training.data.sampler import Example
from earshot.training.distil.decoder_loss import DecoderLoss
from earshot.training.distil.distil_loss import DistilLoss
from earshot.training.network.joint_loss import joint_loss
from earshot.training.network.losses import Losses
from earshot.training.network.trained_model import TrainedModel, as_u2
from earshot.training.phones.phones import PhoneLoss
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.optimiser_config import OptimiserConfig
from earshot.training.student.student_loss import StudentLoss
from earshot.training.transducer.head_loss import HeadLoss

CROP_SAMPLES = 8_000  # of silence after the last word that a decoder hears: 0.5 s


def draw_chunk(rng: np.random.Generator, longest: int, config: OptimiserConfig) -> tuple[int, int]:
    """Chunk size and number of left chunks for one batch, -1 for all (Zhang 2020, section 3.2)."""
    if rng.random() < config.full_context_probability:
        return -1, -1
    chunk = int(rng.integers(config.min_chunk_frames, config.max_chunk_frames + 1))
    if rng.random() < 0.5:
        return chunk, -1
    least, most = -(-config.min_left_frames // chunk), max(1, longest // chunk)
    return chunk, int(rng.integers(min(least, most), most + 1))


@dataclass(frozen=True)
class Objective:
    """The losses of `model` on a batch, as the recipe mixes them."""

    recipe: Recipe
    model: TrainedModel
    phones: PhoneLoss | None = None
    distil: DistilLoss | None = None
    decoder: DecoderLoss | None = None
    head: HeadLoss | None = None
    student: StudentLoss | None = None

    @property
    def side_head(self) -> nn.Module | None:
        """Parameters that are trained beside the model, if there are any."""
        if self.student is not None:
            return self.student.projection
        return None if self.phones is None else self.phones.side_head

    def of(
        self, batch: Batch, examples: Sequence[Example], step: int, rng: np.random.Generator
    ) -> Losses:
        """The losses of update `step`, whose chunks or context `rng` draws."""
        if self.student is not None:
            return self.student.of(batch, rng)
        model = as_u2(self.model)
        frames = batch.features.size(1) // model.encoder.subsampling_rate
        chunk = draw_chunk(rng, frames, self.recipe.optimiser)
        if self.head is not None:
            nats = self.head.of(batch, chunk)
            return Losses(nats, {"loss_per_token": float(nats.detach())})
        model.train()
        if self.recipe.distil is not None and self.recipe.distil.alone:
            model.encoder(batch.features, batch.feature_lengths, *chunk)
            return self._with_distillation(batch.features.new_zeros(()), {}, batch)
        return self._with_distillation(*self._transcribed(batch, examples, step, chunk), batch)

    def _transcribed(
        self, batch: Batch, examples: Sequence[Example], step: int, chunk: tuple[int, int]
    ) -> tuple[Tensor, dict[str, float]]:
        """CTC, attention and phones; the log's `loss` is without the phones."""
        config, model = self.recipe.optimiser, as_u2(self.model)
        early = step < config.ctc_only_steps
        weights = replace(model.config.loss, ctc_weight=1.0 if early else config.ctc_weight)
        model.config = replace(model.config, loss=weights)
        loss = joint_loss(
            model,
            batch.features,
            batch.feature_lengths,
            batch.tokens,
            batch.token_lengths,
            *chunk,
        )
        per_token = float(loss.ctc.detach() / batch.token_lengths.float().mean())
        parts = {"loss": float(loss.total.detach()), "ctc_per_token": per_token}
        if self.phones is None:
            return loss.total, parts
        share = self.phones.config.weight
        return (1.0 - share) * loss.total + share * self.phones.of(batch, examples, step), parts

    def _with_distillation(self, loss: Tensor, parts: Mapping[str, float], batch: Batch) -> Losses:
        """`loss` and the distance from the teacher, where the recipe has one."""
        if self.distil is None or self.recipe.distil is None:
            return Losses(loss, parts)
        taught = self.distil.targets.of(batch.clean)
        distance = self.distil.of(taught, batch.feature_lengths)
        total = loss + self.recipe.distil.weight * distance
        parts = {**parts, "l2": float(distance.detach())}
        if self.decoder is None:
            return Losses(total, parts)
        heard = as_u2(self.model).encoder.output_lengths(batch.feature_lengths)
        nats = self.decoder.of(batch.clean, taught, heard, CROP_SAMPLES)
        total = total + self.recipe.distil.decoder_weight * nats
        return Losses(total, {**parts, "decoder_per_token": float(nats.detach())})
