"""The loss of a transducer's head: RNN-T (Graves 2012), TDT (Xu 2023)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.transducer.transducer import Transducer
from earshot.training.transducer.alignment_sum import NEVER, EdgeKind, alignment_log_sums


def transducer_losses(
    head: Transducer,
    encoded: Tensor,
    lengths: Tensor,
    tokens: Tensor,
    token_lengths: Tensor,
    windows: Tensor | None = None,
    *,
    dropout: float = 0.0,
    sigma: float = 0.0,
) -> Tensor:
    """Negative log-likelihood of each utterance (B,); zero of one that no path of labels fits.

    encoded (B, T, D) with lengths (B,); tokens (B, U) padded on the right, with lengths (B,).
    windows (B, T, S): how many labels may have been said before each frame, see `label_windows`;
    without them any number. dropout: of what the predictor hears and says, and of the joint's
    hidden units. sigma: taken off every log-probability of labels and blank, so that paths of
    fewer, which last longer, are likelier (Xu 2023: logit under-normalization).
    """
    if windows is None:
        windows = torch.arange(tokens.size(1) + 1, device=tokens.device)
        windows = windows.expand(*encoded.shape[:2], -1)
    logits = _joined(head, encoded, _said(head, tokens, dropout), windows, dropout)
    next_labels = _among(functional.pad(tokens, (0, 1)), windows)
    edges, kinds = _edges(head, logits, next_labels, sigma)
    all_labels = (*edges.shape[:3], tokens.size(1) + 1)
    whole = edges.new_full(all_labels, NEVER).scatter(3, windows.expand_as(edges), edges)
    found = alignment_log_sums(whole, kinds, lengths, token_lengths)
    return torch.where(found > NEVER, -found, 0.0)


def _said(head: Transducer, tokens: Tensor, dropout: float) -> Tensor:
    """What the predictor says after each beginning of the tokens (B, U + 1, J)."""
    predictor = head.predictor
    embedded = functional.pad(predictor.embed(tokens), (0, 0, 1, 0))  # nothing said: zeros
    output, _ = predictor.lstm(functional.dropout(embedded, dropout))
    said: Tensor = head.joint.predictor(functional.dropout(output, dropout))
    return said


def _joined(
    head: Transducer, encoded: Tensor, said: Tensor, windows: Tensor, dropout: float
) -> Tensor:
    """The joint's logits (B, T, S, outputs), in float32 at least."""
    frames = head.hear(encoded).unsqueeze(2)
    hidden = head.joint.activated(frames, _among(said, windows))
    logits: Tensor = head.joint.output(functional.dropout(hidden, dropout))
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def _among(labels: Tensor, windows: Tensor) -> Tensor:
    """Rows (B, U + 1, …) of each number of labels, as the windows have them (B, T, S, …)."""
    rows = torch.arange(len(labels), device=labels.device).view(-1, 1, 1)
    return labels[rows, windows]


def _edges(
    head: Transducer, logits: Tensor, next_labels: Tensor, sigma: float
) -> tuple[Tensor, Sequence[EdgeKind]]:
    """Log-probabilities of the edges (E, B, T, S), and what each moves by."""
    found, lasting = head.split(logits)
    total = found.logsumexp(dim=-1) + sigma
    blank = found[..., head.config.blank_id] - total
    label = found.gather(3, next_labels.unsqueeze(3)).squeeze(3) - total
    durations = head.config.durations
    if not durations:
        return torch.stack((blank, label)), (EdgeKind(1, 0), EdgeKind(0, 1))
    lasting = lasting.log_softmax(dim=-1)
    kinds = [EdgeKind(frames, 1) for frames in durations]
    edges = [label + lasting[..., place] for place in range(len(durations))]
    moving = [place for place, frames in enumerate(durations) if frames]
    kinds += [EdgeKind(durations[place], 0) for place in moving]
    edges += [blank + lasting[..., place] for place in moving]
    return torch.stack(edges), kinds
