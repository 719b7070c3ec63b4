"""The likeliest phones of an utterance under a small language model of phones.

Trained by CTC-CRF, a network's frames are no probabilities of what was said before that model is
multiplied in: greedy search counts insertions that no graph would make. This is the best path
through what `PhoneDenominator` sums over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

STAYED = -1  # in place of the phone before the last: nothing new was said


class PhoneSearch:
    """Viterbi over the last two phones, weighed by trigrams `(i, j, k)`, symbol 0 the boundary."""

    def __init__(self, trigrams: Tensor) -> None:
        logs = trigrams.log().transpose(0, 1).contiguous()  # (j, i, k)
        self.size = trigrams.size(0)
        self._end = logs[:, :, 0].clone()
        logs[:, :, 0] = -torch.inf
        places = torch.arange(self.size)
        self._again = logs[places, :, places].clone()  # (j, i): j once more
        logs[places, :, places] = -torch.inf
        self._moves = logs

    @torch.no_grad()
    def best(self, log_probs: Tensor, lengths: Tensor) -> list[list[int]]:
        """Phones of each utterance from `(B, T, N)`, blank 0, of `lengths` `(B,)` frames."""
        emitted = log_probs.float().permute(1, 2, 0)  # (T, N, B)
        batch, size = len(lengths), self.size
        said = emitted.new_full((size, batch, size), -torch.inf)  # (j, B, i): ends with j, aloud
        blank = said.clone()  # the same, silent since
        blank[0, :, 0] = 0.0
        frames: list[_Frame] = []
        ends: list[tuple[int, int, bool]] = [(0, 0, True)] * batch
        for number, scores in enumerate(emitted):
            said, blank, frame = self._advance(said, blank, scores)
            frames.append(frame)
            for row in (lengths == number + 1).nonzero().flatten().tolist():
                ends[row] = self._end_of(said[:, row], blank[:, row])
        counts = enumerate(lengths.tolist())
        return [_trace(frames[:count], row, ends[row]) for row, count in counts]

    def _advance(
        self, said: Tensor, blank: Tensor, scores: Tensor
    ) -> tuple[Tensor, Tensor, _Frame]:
        before = torch.maximum(said, blank)
        fresh, history = (before.unsqueeze(3) + self._moves.unsqueeze(1)).max(dim=2)  # (j, B, k)
        again, its_history = (blank + self._again.unsqueeze(1)).max(dim=2)  # (j, B)
        places = torch.arange(self.size)
        fresh[places, :, places] = again
        history[places, :, places] = its_history
        fresh, history = fresh.permute(2, 1, 0), history.permute(2, 1, 0)  # (k, B, j)
        stays = said >= fresh
        frame = _Frame(
            history.masked_fill(stays, STAYED).to(torch.int16).numpy(), (blank > said).numpy()
        )
        new_said = torch.where(stays, said, fresh) + scores.unsqueeze(2)
        return new_said, before + scores[:1].unsqueeze(2), frame

    def _end_of(self, said: Tensor, blank: Tensor) -> tuple[int, int, bool]:
        """Last phone, the one before and whether silence came since, of the best path (j, i)."""
        totals = torch.stack((said + self._end, blank + self._end))
        kind, last, before = torch.unravel_index(totals.argmax(), totals.shape)
        return int(last), int(before), bool(kind)


@dataclass(frozen=True)
class _Frame:
    """Where each state came from.

    history (k, B, j): the phone before j when k began to be said in this frame, or `STAYED`.
    silent (j, B, i): whether the better of the two states *before* this frame was the silent one.
    """

    history: npt.NDArray[np.int16]
    silent: npt.NDArray[np.bool_]


def _trace(frames: list[_Frame], row: int, end: tuple[int, int, bool]) -> list[int]:
    last, before, silent = end
    found: list[int] = []
    for frame in reversed(frames):
        if silent:
            silent = bool(frame.silent[last, row, before])
            continue
        history = int(frame.history[last, row, before])
        if history == STAYED:
            continue
        found.append(last)
        once_more = last == before
        last, before = before, history
        silent = once_more or bool(frame.silent[last, row, before])
    return found[::-1]
