"""CTC: an output layer, its loss, and what a path says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

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
        return ctc_losses(self(encoded), lengths, tokens, token_lengths, self.blank_id).sum()


def ctc_losses(
    log_probs: Tensor, lengths: Tensor, tokens: Tensor, token_lengths: Tensor, blank_id: int
) -> Tensor:
    """Negative log-likelihood of each utterance (B,); zero of one too short for its tokens.

    log_probs (B, T, V), tokens (B, U) padded on the right, lengths (B,).
    """
    losses: Tensor = functional.ctc_loss(
        log_probs.transpose(0, 1),
        tokens,
        lengths,
        token_lengths,
        blank=blank_id,
        reduction="none",
        zero_infinity=True,
    )
    return losses


def collapse(frame_tokens: Sequence[int], blank_id: int) -> list[int]:
    """CTC's rule: merge repeats, then drop blanks."""
    return [token for token, _ in groupby(frame_tokens) if token != blank_id]
