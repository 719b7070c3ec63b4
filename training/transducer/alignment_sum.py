"""The sum over all ways through a lattice of frames and labels, and how each edge changes it.

Graves 2012, section 2.4, for edges that last any number of frames (Xu 2023, section 3.2). Nodes
whose frame and label add up to the same lie on a diagonal: an edge leads to a later one, so each
diagonal is computed at once from those before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

NEVER = -math.inf


@dataclass(frozen=True)
class EdgeKind:
    """What an edge moves by: frames, and 1 of a label or 0 of a blank; never by nothing."""

    frames: int
    labels: int

    @property
    def diagonals(self) -> int:
        """Diagonals that it goes on by."""
        return self.frames + self.labels


def alignment_log_sums(
    edges: Tensor, kinds: Sequence[EdgeKind], lengths: Tensor, label_lengths: Tensor
) -> Tensor:
    """Log of the sum over all paths (B,) from the first node to T_b frames and U_b labels.

    edges (E, B, T, U + 1): log-probabilities of leaving a node by an edge of each kind; what lies
    beyond an utterance's `lengths` (B,) and `label_lengths` (B,) is not read. -inf, with a gradient
    of zero, where no path fits. Differentiable by edges.
    """
    arguments = edges, tuple(kinds), lengths, label_lengths
    found: Tensor = _AlignmentSum.apply(*arguments)  # type: ignore[no-untyped-call]
    return found


class _AlignmentSum(torch.autograd.Function):
    """Forward and backward sums in one walk each; the gradient is every edge's probability."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        edges: Tensor,
        kinds: tuple[EdgeKind, ...],
        lengths: Tensor,
        label_lengths: Tensor,
    ) -> Tensor:
        leaving = _on_diagonals(_inside(edges.detach(), kinds, lengths, label_lengths))
        ends = torch.stack((lengths + label_lengths, label_lengths))
        reached = _forward_sums(leaving, kinds)
        total = reached[ends[0], torch.arange(len(lengths)), ends[1]]
        ctx.save_for_backward(leaving, reached, total, ends)
        ctx.kinds = kinds  # type: ignore[attr-defined]
        ctx.frames = edges.size(2)  # type: ignore[attr-defined]
        return total

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, gradient: Tensor
    ) -> tuple[Tensor, None, None, None]:
        leaving, reached, total, ends = ctx.saved_tensors  # type: ignore[attr-defined]
        kinds, frames = ctx.kinds, ctx.frames  # type: ignore[attr-defined]
        ahead = _backward_sums(leaving, kinds, ends)
        possible = total > NEVER
        scale = torch.where(possible, total, 0.0).unsqueeze(1)
        shares = torch.zeros_like(leaving)
        for place, kind in enumerate(kinds):
            path = reached[:-1] + leaving[place] + _after(ahead, kind, leaving.size(1))
            shares[place] = (path - scale).exp() * (gradient * possible).unsqueeze(1)
        return _on_frames(shares, frames), None, None, None


def _inside(
    edges: Tensor, kinds: Sequence[EdgeKind], lengths: Tensor, label_lengths: Tensor
) -> Tensor:
    """The edges, with none that leaves from or leads to what an utterance has not."""
    frame = torch.arange(edges.size(2), device=edges.device).view(1, -1, 1)
    label = torch.arange(edges.size(3), device=edges.device).view(1, 1, -1)
    ends, last = lengths.view(-1, 1, 1), label_lengths.view(-1, 1, 1)
    rows = [
        (frame < ends) & (frame + kind.frames <= ends) & (label + kind.labels <= last)
        for kind in kinds
    ]
    return edges.masked_fill(~torch.stack(rows), NEVER)


def _on_diagonals(edges: Tensor) -> Tensor:
    """(E, B, T, U + 1) as (E, N, B, U + 1): edges by the diagonal that they leave."""
    _, _, frames, width = edges.shape
    diagonals = torch.arange(frames + width - 1, device=edges.device).unsqueeze(1)
    frame = diagonals - torch.arange(width, device=edges.device)
    there = (frame >= 0) & (frame < frames)
    label = torch.arange(width, device=edges.device).expand_as(frame)
    found = edges[:, :, frame.clamp(0, frames - 1), label].masked_fill(~there, NEVER)
    return found.transpose(1, 2).contiguous()


def _on_frames(shares: Tensor, frames: int) -> Tensor:
    """(E, N, B, U + 1) as (E, B, T, U + 1): the way back."""
    width = shares.size(3)
    frame = torch.arange(frames, device=shares.device).unsqueeze(1)
    label = torch.arange(width, device=shares.device).expand(frames, width)
    return shares.transpose(1, 2)[:, :, frame + label, label]


def _forward_sums(leaving: Tensor, kinds: Sequence[EdgeKind]) -> Tensor:
    """Log-sums (N + 1, B, U + 1) of all paths from the first node to each."""
    _, diagonals, rows, width = leaving.shape
    reached = leaving.new_full((diagonals + 1, rows, width), NEVER)
    reached[0, :, 0] = 0.0
    for diagonal in range(1, diagonals + 1):
        arriving = [
            _shifted(reached[before] + leaving[place, before], kind.labels)
            for place, kind in enumerate(kinds)
            if (before := diagonal - kind.diagonals) >= 0
        ]
        if arriving:
            torch.logsumexp(torch.stack(arriving), dim=0, out=reached[diagonal])
    return reached


def _backward_sums(leaving: Tensor, kinds: Sequence[EdgeKind], ends: Tensor) -> Tensor:
    """Log-sums (N + D, B, U + 1) of all paths from each node to its utterance's last."""
    _, diagonals, rows, width = leaving.shape
    most = max(kind.diagonals for kind in kinds)
    ahead = leaving.new_full((diagonals + most, rows, width), NEVER)
    ahead[ends[0], torch.arange(rows), ends[1]] = 0.0
    for diagonal in range(diagonals - 1, -1, -1):
        going = [
            leaving[place, diagonal] + _shifted(ahead[diagonal + kind.diagonals], -kind.labels)
            for place, kind in enumerate(kinds)
        ]
        # An end has no way on, and keeps its own.
        ahead[diagonal] = torch.logsumexp(torch.stack([*going, ahead[diagonal]]), dim=0)
    return ahead


def _after(ahead: Tensor, kind: EdgeKind, diagonals: int) -> Tensor:
    """The sums (N, B, U + 1) behind an edge of each node."""
    return _shifted(ahead[kind.diagonals : kind.diagonals + diagonals], -kind.labels)


def _shifted(sums: Tensor, labels: int) -> Tensor:
    """(…, U + 1) moved on by a label, or back by one; nothing comes in."""
    if labels == 0:
        return sums
    moved = torch.full_like(sums, NEVER)
    if labels > 0:
        moved[..., 1:] = sums[..., :-1]
    else:
        moved[..., :-1] = sums[..., 1:]
    return moved
