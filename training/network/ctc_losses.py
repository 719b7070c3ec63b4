"""The loss of CTC (Graves 2006)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


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
