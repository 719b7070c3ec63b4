"""The loops over frames that label looping is measured against, in torch and as they are printed.

Both ask the predictor again at every evaluation of the joint, and throw its answer away after a
blank; neither projects anything in advance. Source: Bataev 2024, Algorithms 1 and 2; `max_symbols`
and the masks of the second from Galvez 2024, Algorithm 1; durations from Xu 2023, Algorithm 2.
"""

from __future__ import annotations

import torch
from torch import Tensor

from benchmarks.transducer.decoding import Batch, Decode, Labels
from earshot.models.transducer.predictor import PredictorState
from earshot.models.transducer.transducer import Transducer


def one_by_one(head: Transducer) -> Decode:
    """Algorithm 1: one utterance after the other."""
    return lambda batch: [_decode_alone(head, frames) for frames in batch.utterances()]


def in_lock_step(head: Transducer) -> Decode:
    """Algorithm 2: no row leaves a frame before all rows do. RNN-T alone."""
    assert not head.config.durations, "rows that wait for each other advance by one frame"
    return lambda batch: _LockStep(head, len(batch.lengths)).decode(batch)


def _decode_alone(head: Transducer, frames: Tensor) -> Labels:
    """Labels of frames (T, D)."""
    blank, durations = head.config.blank_id, head.config.durations
    found, label, state = Labels(), torch.tensor([blank]), head.predictor.start(1)
    t = in_frame = 0
    while t < len(frames):
        logits, after = _evaluate(head, frames[t : t + 1], label, state)
        labels, steps = head.split(logits)
        token = int(labels.argmax())
        advance = durations[int(steps.argmax())] if durations else 0
        if token == blank:
            t, in_frame = t + max(advance, 1), 0
            continue
        found.add(token, t)
        label, state, in_frame = torch.tensor([token]), after, in_frame + 1
        advance = advance or int(in_frame >= head.config.max_symbols)
        if advance:
            t, in_frame = t + advance, 0
    return found


def _evaluate(
    head: Transducer, frames: Tensor, labels: Tensor, state: PredictorState
) -> tuple[Tensor, PredictorState]:
    """Logits (B, V + 1 + n) of frames (B, D) after labels (B,), and the state after those."""
    said, after = head.predictor(labels, state)
    return head.joint(head.joint.encoder(frames), head.joint.predictor(said)), after


class _LockStep:
    """B rows, each with its last label (B,) and the predictor's state before that label."""

    def __init__(self, head: Transducer, rows: int) -> None:
        self._head = head
        self._blank = head.config.blank_id
        self._labels = torch.full((rows,), self._blank)
        self._state = head.predictor.start(rows)
        self._found = [Labels() for _ in range(rows)]

    def decode(self, batch: Batch) -> list[Labels]:
        lengths = torch.tensor(batch.lengths)
        for t in range(batch.frames.size(1)):
            blank = t >= lengths
            for _ in range(self._head.config.max_symbols):
                blank = self._say(batch.frames[:, t], blank, t)
                if bool(blank.all()):
                    break
        return self._found

    def _say(self, frames: Tensor, blank: Tensor, t: int) -> Tensor:
        """One round in a frame (B, D): which rows have found their blank by now (B,)."""
        logits, after = _evaluate(self._head, frames, self._labels, self._state)
        best = logits.argmax(-1)
        blank = blank | (best == self._blank)
        self._labels = torch.where(blank, self._labels, best)
        kept = blank.unsqueeze(-1)
        self._state = PredictorState(
            torch.where(kept, self._state.hidden, after.hidden),
            torch.where(kept, self._state.cell, after.cell),
        )
        for row in (~blank).nonzero()[:, 0].tolist():
            self._found[row].add(int(best[row]), t)
        return blank
