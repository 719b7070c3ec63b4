"""A transducer that is a table, so that every case can be made: what `TableHead` is to the oracles.

The joint has a unit for each pair of last label and frame's number, which is 1 where both are the
case; its output layer is the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from earshot.models.transducer.transducer import Transducer
from earshot.models.transducer_config import TransducerConfig

BLANK = 3
NUMBERS = 8
OPEN = 12.0
"""At which a gate is open, or with a minus shut."""

Table = Mapping[tuple[int, int], tuple[int, int]]
"""From last label (BLANK for none) and frame's number to a label, or BLANK, and a duration's place.

Where it has nothing, the blank is said, and the first duration.
"""


def table_network(table: Table, durations: Sequence[int] = (), cap: int = 10) -> Transducer:
    """How sure it is depends on what was said last, and on the frame."""
    units = BLANK + 1
    head = Transducer(
        TransducerConfig(
            BLANK, NUMBERS, units, units * NUMBERS, durations=tuple(durations), max_symbols=cap
        )
    ).eval()
    for parameter in head.parameters():
        parameter.requires_grad_(False).zero_()
    _remember_the_last(head)
    meet = head.joint.encoder.weight.view(units, NUMBERS, NUMBERS)
    meet[:] = torch.eye(NUMBERS)
    head.joint.encoder.bias[:] = -1.0
    last = head.joint.predictor.weight.view(units, NUMBERS, units)
    last[:] = torch.eye(units)[:, None] / said_for_one(head)
    _write(head.joint.output.weight, table, durations)
    return head


def said_for_one(head: Transducer) -> float:
    """What the LSTM gives for the last label."""
    output, _ = head.predictor(torch.tensor([0]), head.predictor.start(1))
    return float(output[0, 0])


def numbers(count: int) -> Tensor:
    """Frames `(T, NUMBERS)` numbered one after the other, and again."""
    return torch.eye(NUMBERS)[torch.arange(count).remainder(NUMBERS)]


def _remember_the_last(head: Transducer) -> None:
    lstm, size = head.predictor.lstm, BLANK + 1
    gates = lstm.bias_ih_l0.view(4, size)
    gates[0], gates[1], gates[3] = OPEN, -OPEN, OPEN  # take in, forget, put out
    lstm.weight_ih_l0.view(4, size, size)[2] = torch.eye(size)
    head.predictor.embed.weight[:] = torch.eye(size)


def _write(output: Tensor, table: Table, durations: Sequence[int]) -> None:
    rows = output.T.view(BLANK + 1, NUMBERS, -1)
    for last in range(BLANK + 1):
        for number in range(NUMBERS):
            label, place = table.get((last, number), (BLANK, 0))
            rows[last, number, label] = 2.0 + last + number / NUMBERS
            if durations:
                rows[last, number, BLANK + 1 + place] = 1.0
