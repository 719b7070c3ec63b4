"""Greedy decoding of one utterance by a head in training, in plain loops of torch."""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models.transducer.transducer import Transducer


@torch.no_grad()
def greedy_labels(head: Transducer, encoded: Tensor) -> list[int]:
    """The labels of an utterance's frames (T, D): Bataev 2024, Algorithm 2, for one row."""
    frames = head.hear(encoded)
    blank, found, frame, in_frame = head.config.blank_id, list[int](), 0, 0
    said, state = head.say(torch.tensor([blank], device=encoded.device), head.predictor.start(1))
    while frame < len(frames):
        label, frames_on = _best(head, frames[frame], said[0])
        if label == blank:
            frames_on = max(frames_on, 1)
        else:
            found.append(label)
            said, state = head.say(torch.tensor([label], device=encoded.device), state)
            in_frame += 1
            if in_frame == head.config.max_symbols:
                frames_on = max(frames_on, 1)
        if frames_on:
            frame, in_frame = frame + frames_on, 0
    return found


def _best(head: Transducer, frame: Tensor, said: Tensor) -> tuple[int, int]:
    """The likeliest label or blank, and the frames that it moves on by."""
    labels, lasting = head.split(head.joint(frame, said))
    label = int(labels.argmax())
    if not head.config.durations:
        return label, int(label == head.config.blank_id)
    return label, head.config.durations[int(lasting.argmax())]
