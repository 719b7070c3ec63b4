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
        factors = _factors(log_probs.detach().exp())
        pasts, scales = _pasts(factors, denominator)
        last, streams = lengths - 1, torch.arange(len(lengths), device=lengths.device)
        if ctx.needs_input_grad[0]:
            futures = _futures(factors, last.tolist(), denominator)
            ctx.save_for_backward(_occupation(pasts, futures, lengths))
        ends = (pasts[last, :, streams] * denominator.end).sum(dim=(1, 2))
        return scales.log().cumsum(dim=0)[last, streams] + ends.log()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (occupation,) = ctx.saved_tensors
        return gradient[:, None, None] * occupation, None, None


def _factors(probs: Tensor) -> Tensor:
    """What each frame multiplies states by, from probabilities (B, T, N): (T, N, B, 2, 1).

    The phone's where the frame says it, the blank's where it says nothing new.
    """
    said = probs.permute(1, 2, 0)
    return torch.stack([said, said[:, :1].expand_as(said)], dim=3).unsqueeze(4)


def _pasts(factors: Tensor, denominator: PhoneDenominator) -> tuple[Tensor, Tensor]:
    """States (T, N, B, 2 N) by last phone after each frame, and what divides them (T, B).

    The states before sum to that divisor. It goes into the factors, which are fewer.
    """
    frames, size, batch = factors.shape[:3]
    pasts = factors.new_empty(frames, size, batch, 2 * size)
    scales = factors.new_ones(frames, batch)
    state = factors.new_zeros(size, batch, 2 * size)
    state[0, :, size] = 1.0
    for frame in range(frames):
        scales[frame] = state.sum(dim=(0, 2))
        phone, blank = state[:, :, :size], state[:, :, size:]
        fresh = torch.bmm(state, denominator.moves)  # (j, B, k)
        state = pasts[frame]
        torch.add(phone, fresh.permute(2, 1, 0), out=state[:, :, :size])
        torch.add(phone, blank, out=state[:, :, size:])
        state.view(size, batch, 2, size).mul_(factors[frame] / scales[frame, :, None, None])
    return pasts, scales


def _futures(factors: Tensor, last: list[int], denominator: PhoneDenominator) -> Tensor:
    """Backward scores after each frame, (T, N, B, 2 N) by last phone, up to a scale.

    `last`: the frame in which each utterance ends.
    """
    frames, size, batch = factors.shape[:3]
    futures = factors.new_empty(frames, size, batch, 2 * size)
    futures[-1] = denominator.end[:, None]
    for frame in range(frames - 1, 0, -1):
        scale = futures[frame].sum(dim=(0, 2))[:, None, None]
        entered = futures[frame].view(size, batch, 2, size) * (factors[frame] / scale)
        said, before = entered[:, :, 0], futures[frame - 1]  # (k, B, j), (j, B, 2 i)
        torch.bmm(said.permute(2, 1, 0).contiguous(), denominator.moves_back, out=before)
        before.view(size, batch, 2, size).add_(entered[:, :, 1:])
        before[:, :, :size].add_(said)
        for stream in (each for each, end in enumerate(last) if end == frame - 1):
            before[:, stream] = denominator.end
    return futures


def _occupation(pasts: Tensor, futures: Tensor, lengths: Tensor) -> Tensor:
    """How much of the sum says each symbol in each frame: (B, T, N), rows of one."""
    size = pasts.size(1)
    shares = pasts * futures
    said = shares[..., :size].sum(dim=3).permute(2, 0, 1).contiguous()
    said[:, :, 0] = shares[..., size:].sum(dim=(1, 3)).t()
    said = said / said.sum(dim=2, keepdim=True)
    frames = torch.arange(len(pasts), device=lengths.device)
    return torch.where((frames < lengths[:, None])[:, :, None], said, 0.0)
