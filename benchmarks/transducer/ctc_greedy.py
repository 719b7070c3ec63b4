"""Greedy decoding of CTC on the frames that the transducers decode: what no memory costs least."""

from __future__ import annotations

import torch
from torch import nn

from benchmarks.transducer.decoding import Batch, Decode, Labels


def ctc_greedy(encoder_size: int, vocab_size: int) -> Decode:
    """The best of V + 1 units of each frame, without repetitions and blanks; random weights."""
    output = nn.Linear(encoder_size, vocab_size + 1).eval().requires_grad_(False)
    return lambda batch: _decode(output, batch)


def _decode(output: nn.Linear, batch: Batch) -> list[Labels]:
    blank = output.out_features - 1
    best = output(batch.frames).argmax(-1)
    before = nn.functional.pad(best[:, :-1], (1, 0), value=blank)
    within = torch.arange(best.size(1)) < torch.tensor(batch.lengths).unsqueeze(1)
    starts = (best != before) & (best != blank) & within
    frames = [row.nonzero()[:, 0] for row in starts]
    return [
        Labels(row[places].tolist(), places.tolist())
        for row, places in zip(best, frames, strict=True)
    ]
