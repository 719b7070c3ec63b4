"""All that could have been said, weighed: what CTC-CRF divides by.

CTC asks that the transcript's paths be likely; CTC-CRF that they be likelier than those of all
other phone sequences, each as probable as a phone trigram says (Xiang and Ou 2019,
arXiv:1911.08747, eq. 4; the idea is lattice-free MMI's, Povey 2016). The sum over all others runs
over states (i, j): the last two phones; in each the last frame was phone j or a blank.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class PhoneDenominator:
    """The sum's moves: trigrams `(N, N, N)` as matrices from (j, i) to k, one for each j.

    Rows 0 to N - 1 leave a state whose last frame was the phone: no phone follows itself without a
    blank between. Rows N to 2 N - 1 leave one whose last frame was a blank.
    """

    def __init__(self, trigrams: Tensor) -> None:
        by_last = trigrams.transpose(0, 1).contiguous()  # (j, i, k)
        self.size = trigrams.size(0)
        self.end = torch.cat([by_last[:, :, 0]] * 2, dim=1)  # (j, 2 i)
        spoken = by_last.clone()
        spoken[:, :, 0] = 0.0
        direct = spoken.clone()
        repeated = torch.arange(self.size)
        direct[repeated, :, repeated] = 0.0
        self.moves = torch.cat([direct, spoken], dim=1)  # (j, 2 i, k)
        self.moves_back = self.moves.transpose(1, 2).contiguous()  # (j, k, 2 i)

    def to(self, device: torch.device) -> None:
        """Move to `device`."""
        self.end, self.moves = self.end.to(device), self.moves.to(device)
        self.moves_back = self.moves_back.to(device)

    def log_sum(self, log_probs: Tensor, lengths: Tensor) -> Tensor:
        """Log of the sum over all paths `(B,)` for log-probabilities `(B, T, N)`, blank 0.

        Frames from `lengths` on count nothing. Differentiable in `log_probs`. In full precision,
        whatever autocast says: errors would add up from frame to frame.
        """
        with torch.autocast(log_probs.device.type, enabled=False):
            total: Tensor = _LogSum.apply(log_probs, lengths, self)  # type: ignore[no-untyped-call]
        return total


class _LogSum(torch.autograd.Function):
    """Forward-backward in scaled probabilities; the gradient is each symbol's occupation."""

    @staticmethod
    def forward(
        ctx: Any, log_probs: Tensor, lengths: Tensor, denominator: PhoneDenominator
    ) -> Tensor:
        probs = log_probs.detach().exp()
        forward, total = _forward(probs, lengths, denominator)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(_occupation(probs, lengths, denominator, forward))
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (occupation,) = ctx.saved_tensors
        return gradient[:, None, None] * occupation, None, None


def _advance(state: Tensor, probs: Tensor, denominator: PhoneDenominator) -> Tensor:
    """One frame: states (N, B, 2 N) by last phone, `probs` (B, N)."""
    size = denominator.size
    phone, blank = state[:, :, :size], state[:, :, size:]
    said = probs.t().unsqueeze(2)  # (N, B, 1)
    fresh = torch.bmm(state, denominator.moves).permute(2, 1, 0)  # (k, B, j)
    return torch.cat([said * (phone + fresh), probs[:, :1] * (phone + blank)], dim=2)


def _forward(
    probs: Tensor, lengths: Tensor, denominator: PhoneDenominator
) -> tuple[Tensor, Tensor]:
    """Scaled states (T, N, B, 2 N) after each frame, and the log of the whole sum (B,)."""
    batch, frames, size = probs.shape
    state = probs.new_zeros(size, batch, 2 * size)
    state[0, :, size] = 1.0
    states = probs.new_empty(frames, size, batch, 2 * size)
    total = probs.new_zeros(batch)
    for frame in range(frames):
        moved = _advance(state, probs[:, frame], denominator)
        scale = moved.sum(dim=(0, 2))
        running = frame < lengths
        total += torch.where(running, scale.log(), 0.0)
        state = torch.where(running[:, None], moved / scale[:, None], state)
        states[frame] = state
    return states, total + (state * denominator.end[:, None]).sum(dim=(0, 2)).log()


def _occupation(
    probs: Tensor, lengths: Tensor, denominator: PhoneDenominator, states: Tensor
) -> Tensor:
    """How much of the sum says each symbol in each frame: (B, T, N), rows of one."""
    batch, frames, size = probs.shape
    occupation = torch.zeros_like(probs)
    end = denominator.end[:, None].expand(size, batch, 2 * size)
    future = end
    for frame in range(frames - 1, -1, -1):
        future = torch.where((frame >= lengths - 1)[:, None], end, future)
        shares = states[frame] * future
        said = shares[:, :, :size].sum(dim=2).t().contiguous()  # (B, N)
        said[:, 0] = shares[:, :, size:].sum(dim=(0, 2))
        said = said / said.sum(dim=1, keepdim=True)
        occupation[:, frame] = torch.where((frame < lengths)[:, None], said, 0.0)
        future = _retreat(future, probs[:, frame], denominator)
    return occupation


def _retreat(future: Tensor, probs: Tensor, denominator: PhoneDenominator) -> Tensor:
    """What is left to come before a frame, scaled to a largest of one; the mirror of `_advance`."""
    size = denominator.size
    said = probs.t().unsqueeze(2) * future[:, :, :size]  # (k, B, j)
    blank = probs[:, :1] * future[:, :, size:]
    before = torch.bmm(said.permute(2, 1, 0), denominator.moves_back)  # (j, B, 2 i)
    before = before + torch.cat([said + blank, blank], dim=2)
    return before / before.amax(dim=(0, 2))[:, None]
