"""The objective of a run: the losses of its recipe, in one sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor, nn

from earshot.models.u2.u2 import U2Model
from earshot.training.data.batch import Batch
from earshot.training.data.sampler import Example
from earshot.training.distil.decoder_loss import DecoderLoss
from earshot.training.distil.distil_loss import DistilLoss
from earshot.training.network.joint_loss import joint_loss
from earshot.training.phones.phones import PhoneLoss
from earshot.training.recipe.config import Recipe
from earshot.training.transducer.head_loss import HeadLoss

CROP_SAMPLES = 8_000  # of silence after the last word that a decoder hears: 0.5 s


@dataclass(frozen=True)
class Losses:
    """A differentiable sum, and what the log tells of its parts, by name."""

    total: Tensor
    parts: Mapping[str, float]


@dataclass(frozen=True)
class Objective:
    """The losses of `model` on a batch, as the recipe mixes them."""

    recipe: Recipe
    model: U2Model
    phones: PhoneLoss | None = None
    distil: DistilLoss | None = None
    decoder: DecoderLoss | None = None
    head: HeadLoss | None = None

    @property
    def side_head(self) -> nn.Module | None:
        """Parameters that are trained beside the model, if there are any."""
        return None if self.phones is None else self.phones.side_head

    def of(
        self, batch: Batch, examples: Sequence[Example], step: int, chunk: tuple[int, int]
    ) -> Losses:
        """The losses of update `step`; `chunk` is its size and the number of left chunks."""
        if self.head is not None:
            nats = self.head.of(batch, chunk)
            return Losses(nats, {"loss_per_token": float(nats.detach())})
        self.model.train()
        if self.recipe.distil is not None and self.recipe.distil.alone:
            self.model.encoder(batch.features, batch.feature_lengths, *chunk)
            return self._with_distillation(batch.features.new_zeros(()), {}, batch)
        return self._with_distillation(*self._transcribed(batch, examples, step, chunk), batch)

    def _transcribed(
        self, batch: Batch, examples: Sequence[Example], step: int, chunk: tuple[int, int]
    ) -> tuple[Tensor, dict[str, float]]:
        """CTC, attention and phones; the log's `loss` is without the phones."""
        config, model = self.recipe.optimiser, self.model
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
        heard = self.model.encoder.output_lengths(batch.feature_lengths)
        nats = self.decoder.of(batch.clean, taught, heard, CROP_SAMPLES)
        total = total + self.recipe.distil.decoder_weight * nats
        return Losses(total, {**parts, "decoder_per_token": float(nats.detach())})
