"""Small heads that are never quite sure, what beams hear of them, and what the plain loops say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from beam_oracle import BeamRules, Said, beam_search
from label_heads import turns
from network_head import NetworkHead
from torch import Tensor

from earshot.decoder_kernels.transducer.label_beam import BeamConfig, BeamMemory, LabelBeam
from earshot.language.ngrams.arpa import Arpa, NGram
from earshot.models.transducer.transducer import Transducer
from earshot.models.transducer_config import TransducerConfig

SIZE = 6
LABELS = 5
CAP = 3
SPELLED = [chr(100 + label) for label in range(64)]


def head_of(durations: tuple[int, ...], seed: int) -> Transducer:
    """One that changes its mind by frames and by what was said, and is never quite sure."""
    torch.manual_seed(seed)
    config = TransducerConfig(
        LABELS, SIZE, 8, 19, activation="tanh", durations=durations, max_symbols=CAP
    )
    head = Transducer(config).eval()
    for parameter in head.parameters():
        parameter.data.normal_(0, 0.5)
    head.joint.output.bias.data[config.blank_id] += 1.0
    return head


HEADS = {"rnnt": head_of((), 4), "tdt": head_of((0, 1, 2, 5), 6)}


def sound(frames: int, seed: int) -> Tensor:
    return torch.randn(frames, SIZE, generator=torch.Generator().manual_seed(seed))


def small_lm() -> Arpa:
    """Two labels known, with a pair of them; the others are its unknown word."""
    words = ["<s>", "</s>", "<unk>", "d", "e", "f"]
    ones = [(-99, -0.2), (-1, 0), (-1.5, 0), (-0.4, -0.3), (-0.9, -0.1), (-1, 0)]
    twos = {(0, 3): (-0.2, -0.4), (3, 4): (-0.1, -0.2), (4, 5): (-0.3, 0), (4, 3): (-0.7, 0.1)}
    threes = {(0, 3, 4): (-0.05, 0), (3, 4, 5): (-0.6, 0), (4, 3, 4): (-1.1, 0)}
    orders = [
        {(word,): NGram(*each) for word, each in enumerate(ones)},
        {pair: NGram(*each) for pair, each in twos.items()},
        {three: NGram(*each) for three, each in threes.items()},
    ]
    return Arpa(words, orders)


@dataclass
class Heard:
    """The hypotheses of a stream after all its chunks."""

    memory: BeamMemory
    said: list[Said] = field(default_factory=list)
    blanks: list[list[float]] = field(default_factory=lambda: [[]])
    length: int = 0


NOTHING = Said(torch.empty(0), None)


def in_pieces(beam: LabelBeam, sounds: Sequence[Tensor], pieces: Sequence[int]) -> list[Heard]:
    """Each sound in chunks of these sizes."""
    heard = [Heard(beam.begin(), [NOTHING]) for _ in sounds]
    for chunks in turns(sounds, pieces):
        hear(beam, chunks, heard)
    return heard


def hear(
    beam: LabelBeam,
    chunks: Sequence[Tensor],
    heard: Sequence[Heard],
    slots: Sequence[int] | None = None,
) -> None:
    searched = beam(chunks, [each.memory for each in heard], slots)
    for each, found, chunk in zip(heard, searched, chunks, strict=True):
        assert found is not None
        each.memory = found.after
        before, blanks = each.said, each.blanks
        each.said, each.blanks = [], []
        for said, score in zip(found.hypotheses, found.after.scores.tolist(), strict=True):
            old = before[said.parent]
            each.said.append(
                replace(
                    old,
                    score=score,
                    tokens=(*old.tokens, *said.tokens),
                    frames=(*old.frames, *(each.length + frame for frame in said.frames)),
                    durations=(*old.durations, *said.durations),
                    log_probs=(*old.log_probs, *said.log_probs),
                )
            )
            assert len(said.blank_log_probs) == len(chunk)
            each.blanks.append([*blanks[said.parent], *said.blank_log_probs])
        each.length += len(chunk)


def whole(beam: LabelBeam, encoded: Tensor) -> Heard:
    [heard] = in_pieces(beam, [encoded], [max(len(encoded), 1)])
    return heard


def expected_of(head: Transducer, encoded: Tensor, config: BeamConfig, **more: Any) -> list[Said]:
    rules = BeamRules(config.width, head.config.max_symbols, config.waits, config.narrow, **more)
    return beam_search(NetworkHead(head), head.hear(encoded), rules)


def assert_found(found: Heard, expected: Sequence[Said]) -> None:
    assert [(each.tokens, each.frames) for each in found.said] == [
        (each.tokens, each.frames) for each in expected
    ]
    for each, blanks, wanted in zip(found.said, found.blanks, expected, strict=True):
        assert each.durations == (wanted.durations or (1,) * len(wanted.tokens))
        assert each.log_probs == pytest.approx(wanted.log_probs, abs=1e-5)
        assert each.score == pytest.approx(wanted.score, abs=1e-4)
        passed = {frame: log_prob for frame, log_prob in enumerate(blanks) if log_prob > -1e30}
        kept = {frame: each for frame, each in wanted.blanks.items() if frame < found.length}
        assert passed == pytest.approx(kept, abs=1e-5)
