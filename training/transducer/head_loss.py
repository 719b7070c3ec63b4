"""The loss of a transducer's head in training, on what its model's encoder hears."""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models.u2.u2 import U2Model
from earshot.training.data.batch import Batch
from earshot.training.recipe.transducer_config import TransducerTrainingConfig
from earshot.training.transducer.label_windows import label_windows
from earshot.training.transducer.transducer_loss import transducer_losses


class HeadLoss:
    """Hears batches by a frozen encoder, and judges the head by them."""

    def __init__(self, model: U2Model, config: TransducerTrainingConfig) -> None:
        assert model.transducer is not None
        self._model = model
        self._head = model.transducer
        self._config = config

    def of(self, batch: Batch, chunk: tuple[int, int]) -> Tensor:
        """Nats a token; chunk: its size and the number of left chunks."""
        config = self._config
        encoded, lengths, windows = self._heard(batch, chunk)
        losses = transducer_losses(
            self._head,
            encoded,
            lengths,
            batch.tokens,
            batch.token_lengths,
            windows,
            dropout=config.dropout,
            sigma=config.sigma,
        )
        return losses.sum() / batch.token_lengths.sum().clamp(min=1)

    @torch.no_grad()
    def _heard(self, batch: Batch, chunk: tuple[int, int]) -> tuple[Tensor, Tensor, Tensor]:
        """Encoder frames (B, T, D), their lengths (B,), and the labels' windows (B, T, S)."""
        self._model.eval()  # what is frozen drops nothing
        encoded, lengths = self._model.encoder(batch.features, batch.feature_lengths, *chunk)
        windows = label_windows(
            self._model.ctc_log_probs(encoded),
            lengths,
            batch.tokens,
            batch.token_lengths,
            self._model.blank_id,
            self._config.window_labels,
        )
        return encoded.float(), lengths, windows
