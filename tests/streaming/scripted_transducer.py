"""A transducer without a secret: every frame says what is to be found in it.

A frame holds the joint's logits. The predictor knows the last label alone, and favours it a little:
a frame of `ECHO` is heard as what was said last, after nothing as the first unit.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.transducer.transducer import Transducer
from earshot.models.transducer_config import TransducerConfig

UNITS = ("一", "二", "三", "四", "<EOU>")
DURATIONS = (0, 1, 2, 4)
BLANK = len(UNITS)
SIZE = BLANK + 1 + len(DURATIONS)
SURE = 10.0


class ScriptTokenizer(CharTokenizer):
    """UNITS: each is a word, and the end of a turn none."""

    def __init__(self) -> None:
        Tokenizer.__init__(self, UnitTable.of(UNITS, "script"), special=UNITS[-1:])


def frame(unit: int, duration: int = 1, sure: float = SURE) -> list[float]:
    """A unit, or BLANK, that lasts so many frames."""
    logits = [0.0] * SIZE
    logits[unit] = sure
    logits[BLANK + 1 + DURATIONS.index(duration)] = SURE
    return logits


def torn(first: int, other: int, nats: float = 1.0) -> list[float]:
    """A frame of one unit, or BLANK, that is another's for so many nats more."""
    logits = frame(first)
    logits[other] = SURE - nats
    return logits


QUIET = frame(BLANK)
ECHO = [SURE, *[SURE - 0.1] * (BLANK - 2), *frame(BLANK, sure=0.0)[BLANK - 1 :]]


def frames_of(script: Sequence[list[float]]) -> Tensor:
    """The frames `(T, SIZE)`."""
    return torch.tensor(script).reshape(-1, SIZE)


def scripted_transducer(max_symbols: int = 1) -> Transducer:
    """Its joint passes frames on; its LSTM holds the last label and forgets all before."""
    head = Transducer(
        TransducerConfig(
            vocab_size=BLANK,
            encoder_size=SIZE,
            predictor_size=BLANK + 1,
            joint_size=SIZE,
            durations=DURATIONS,
            max_symbols=max_symbols,
        )
    ).eval()
    for parameter in head.parameters():
        parameter.data.zero_()
    for layer in (head.joint.encoder, head.joint.output):
        layer.weight.data.copy_(torch.eye(SIZE))
    head.joint.predictor.weight.data[:BLANK, :BLANK] = torch.eye(BLANK)
    remember_the_last(head)
    return head


def remember_the_last(head: Transducer) -> None:
    """The predictor puts out the last label alone, of one as wide as labels and blank."""
    lstm, size = head.predictor.lstm, head.config.vocab_size + 1
    gates = lstm.bias_ih_l0.data.view(4, size)
    gates[0], gates[1], gates[3] = SURE, -SURE, SURE  # take in, forget, put out
    lstm.weight_ih_l0.data.view(4, size, size)[2] = torch.eye(size)
    head.predictor.embed.weight.data[: size - 1, : size - 1] = torch.eye(size - 1)
