"""How many labels may have been said before a frame, as far as a CTC head can tell.

A joint over all frames and all labels of an utterance costs their product, though nearly all of
it lies far from any likely path (Kuang 2022, pruned RNN-T). A head that learns on a trained encoder
has the CTC head beside it, which knows where labels are.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from earshot.training.transducer.alignment_sum import NEVER, EdgeKind, alignment_log_sums

KINDS = (EdgeKind(1, 0), EdgeKind(1, 1))
"""A frame says the blank, or a label: CTC without repetitions, which change no order."""


def label_windows(
    log_probs: Tensor,
    lengths: Tensor,
    tokens: Tensor,
    token_lengths: Tensor,
    blank_id: int,
    width: int,
) -> Tensor:
    """Numbers of labels (B, T, S), S up to `width`, about those that CTC expects at each frame.

    log_probs (B, T, V) of a CTC head with lengths (B,), tokens (B, U) padded on the right with
    lengths (B,). width: at least 3, so that a path is left; the first frame's windows begin with
    none, the last one's end with all, where the labels fit into the frames at all.
    """
    expected = expected_labels(log_probs, lengths, tokens, token_lengths, blank_id)
    return windows_about(expected, tokens, token_lengths, width)


def windows_about(expected: Tensor, tokens: Tensor, token_lengths: Tensor, width: int) -> Tensor:
    """The windows (B, T, S) about an expected number of labels (B, T); see `label_windows`."""
    size = min(width, tokens.size(1) + 1)
    most = (token_lengths + 1 - size).clamp(min=0).unsqueeze(1)
    first = (expected.round().long() - size // 2).clamp(min=0).minimum(most)
    return first.unsqueeze(2) + torch.arange(size, device=tokens.device)


def expected_labels(
    log_probs: Tensor, lengths: Tensor, tokens: Tensor, token_lengths: Tensor, blank_id: int
) -> Tensor:
    """The expected number of labels said before each frame (B, T); none where no path fits."""
    next_labels = tokens.unsqueeze(1).expand(-1, log_probs.size(1), -1)
    said = log_probs.detach().gather(2, next_labels)
    said = functional.pad(said, (0, 1), value=NEVER)  # behind the last label there is no other
    blank = log_probs.detach()[..., blank_id].unsqueeze(2).expand_as(said)
    with torch.enable_grad():
        edges = torch.stack((blank, said)).requires_grad_()
        total = alignment_log_sums(edges, KINDS, lengths, token_lengths).sum()
        [shares] = torch.autograd.grad(total, edges)
    said_at = shares[1].sum(dim=2)
    return said_at.cumsum(dim=1) - said_at
