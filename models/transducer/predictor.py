"""The prediction network: an LSTM over the labels so far."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from earshot.models.transducer_config import TransducerConfig


@dataclass(frozen=True)
class PredictorState:
    """The memory of N layers, for each of B rows.

    hidden, cell: (N, B, H).
    """

    hidden: Tensor
    cell: Tensor


class Predictor(nn.Module):
    """Graves 2012, section 2.2, with an embedding of the last label, and the blank for none.

    The blank's row is zeros, as training leaves it: nothing has been said.
    """

    def __init__(self, config: TransducerConfig) -> None:
        super().__init__()
        self.blank_id = config.blank_id
        self.embed = nn.Embedding(config.vocab_size + 1, config.predictor_size)
        self.lstm = nn.LSTM(
            config.predictor_size, config.predictor_size, config.predictor_layers, batch_first=True
        )

    def start(self, rows: int) -> PredictorState:
        """The state of B rows before their first label."""
        shape = (self.lstm.num_layers, rows, self.lstm.hidden_size)
        zeros = torch.zeros(shape, device=self.embed.weight.device)
        return PredictorState(zeros, zeros)

    def forward(self, labels: Tensor, state: PredictorState) -> tuple[Tensor, PredictorState]:
        """One label (B,) a row to outputs (B, H) and the state after it."""
        embedded = self.embed(labels).unsqueeze(1)
        output, (hidden, cell) = self.lstm(embedded, (state.hidden, state.cell))
        return output[:, 0], PredictorState(hidden, cell)
