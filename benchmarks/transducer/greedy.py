"""Greedy decoding of one utterance by plain loops, to compare with."""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models.transducer.transducer import Transducer


def greedy_ctc(scores: Tensor) -> list[int]:
    """The best unit of each frame of scores (T, V + 1), the blank among them."""
    units: list[int] = scores.argmax(-1).tolist()
    return units


def greedy_transducer(network: Transducer, encoded: Tensor, max_symbols: int) -> list[int]:
    """Labels of encoded frames (T, D) (Bataev 2024, Algorithm 1; Xu 2023, Algorithm 2).

    After `max_symbols` labels in one frame the next frame comes.
    """
    frames, blank = network.hear(encoded), network.config.blank_id
    labels: list[int] = []
    said, state = network.say(torch.tensor([blank]), network.predictor.start(1))
    t, in_frame = 0, 0
    while t < len(frames):
        tokens, durations = network.split(network.joint(frames[t], said[0]))
        best = int(tokens.argmax())
        advance = network.config.durations[int(durations.argmax())] if len(durations) else 0
        if best != blank:
            labels.append(best)
            said, state = network.say(torch.tensor([best]), state)
            in_frame += 1
        if best == blank or in_frame >= max_symbols:
            advance = max(advance, 1)
        t, in_frame = t + advance, 0 if advance else in_frame
    return labels
