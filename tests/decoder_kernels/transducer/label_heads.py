"""Small heads of weights by chance, what the papers' loop finds with them, loops in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import pytest
import torch
from network_head import NetworkHead
from oracles import Found, frame_looping
from torch import Tensor

from earshot.decoder_kernels.transducer.device_loop import DeviceLabelLoop
from earshot.decoder_kernels.transducer.label_loop import LabelLoop, LoopMemory
from earshot.models.transducer.transducer import Transducer
from earshot.models.transducer_config import TransducerConfig

Loop: TypeAlias = LabelLoop | DeviceLabelLoop
SIZE = 6
CONFIG = TransducerConfig(
    vocab_size=5,
    encoder_size=SIZE,
    predictor_size=8,
    joint_size=19,
    activation="tanh",
    max_symbols=3,
)
CONFIGS = {
    "rnnt": CONFIG,
    "tdt": replace(CONFIG, predictor_layers=2, durations=(0, 1, 2, 5), predictor_size=18),
    "sigmoid": replace(CONFIG, activation="sigmoid", vocab_size=17),
}
SEEDS = {"rnnt": 4, "tdt": 6, "sigmoid": 35}


def head_of(kind: str) -> Transducer:
    """One that changes its mind by frames and by what was said, and finds blanks too."""
    torch.manual_seed(SEEDS[kind])
    config = CONFIGS[kind]
    head = Transducer(config).eval()
    for parameter in head.parameters():
        parameter.data.normal_(0, 0.8)
    head.joint.output.bias.data[config.blank_id] += 1.5
    return head


HEADS = {kind: head_of(kind) for kind in CONFIGS}


def sound(frames: int, seed: int) -> Tensor:
    return torch.randn(frames, SIZE, generator=torch.Generator().manual_seed(seed))


def expected_of(head: Transducer, encoded: Tensor) -> Found:
    return frame_looping(NetworkHead(head), head.hear(encoded), head.config.max_symbols)[0]


@dataclass
class Heard:
    """What a stream has said in all its chunks."""

    memory: LoopMemory
    tokens: list[int] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    blank_log_probs: list[float] = field(default_factory=list)


def in_pieces(loop: Loop, sounds: Sequence[Tensor], pieces: Sequence[int]) -> list[Heard]:
    """Each sound in chunks of these sizes."""
    heard = [Heard(loop.begin()) for _ in sounds]
    for chunks in turns(sounds, pieces):
        hear(loop, chunks, heard)
    return heard


def turns(sounds: Sequence[Tensor], pieces: Sequence[int]) -> Iterator[list[Tensor]]:
    """A chunk of each sound, of these sizes over and over, until the last sound ends.

    Every lane has other sizes than its neighbour.
    """
    left, turn = list(sounds), 0
    while any(map(len, left)):
        taken = [pieces[(turn + lane) % len(pieces)] for lane in range(len(left))]
        yield [each[:size] for each, size in zip(left, taken, strict=True)]
        left = [each[size:] for each, size in zip(left, taken, strict=True)]
        turn += 1


def hear(loop: Loop, chunks: Sequence[Tensor], heard: Sequence[Heard]) -> None:
    walked = loop(chunks, [each.memory for each in heard])
    for each, found, chunk in zip(heard, walked, chunks, strict=True):
        assert found is not None
        each.memory = found.after
        each.frames += [len(each.blank_log_probs) + frame for frame in found.frames]
        for name in ("tokens", "durations", "log_probs", "blank_log_probs"):
            getattr(each, name).extend(getattr(found, name))
        assert len(found.blank_log_probs) == len(chunk)


def whole(loop: Loop, encoded: Tensor) -> Heard:
    [heard] = in_pieces(loop, [encoded], [max(len(encoded), 1)])
    return heard


def assert_found(found: Heard, expected: Found, length: int) -> None:
    assert found.tokens == expected.tokens
    assert found.frames == expected.frames
    assert found.durations == (expected.durations or [1] * len(expected.tokens))
    assert found.log_probs == pytest.approx(expected.log_probs, abs=1e-5)
    assert len(found.blank_log_probs) == length
