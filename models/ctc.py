"""CTC output layer and its loss."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class CtcHead(nn.Module):
    """Linear layer to the vocabulary and log-softmax."""

    def __init__(self, vocab_size: int, size: int, blank_id: int) -> None:
        super().__init__()
        self.blank_id = blank_id
        self.ctc_lo = nn.Linear(size, vocab_size)

    def forward(self, encoded: Tensor) -> Tensor:
        """(…, D) to log-probabilities (…, V), float32."""
        return functional.log_softmax(self.ctc_lo(encoded), dim=-1, dtype=torch.float32)

    def loss(
        self, encoded: Tensor, lengths: Tensor, tokens: Tensor, token_lengths: Tensor
    ) -> Tensor:
        """Negative log-likelihood summed over utterances (Graves 2006).

        An utterance that is too short for its tokens counts zero.
        encoded (B, T, D), tokens (B, U) padded on the right, lengths (B,).
        """
        loss: Tensor = functional.ctc_loss(
            self(encoded).transpose(0, 1),
            tokens,
            lengths,
            token_lengths,
            blank=self.blank_id,
            reduction="sum",
            zero_infinity=True,
        )
        return loss
