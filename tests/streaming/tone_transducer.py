"""Transducers that hear tones: a digit once, however long it sounds, until another comes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import torch
from scripted_transducer import remember_the_last

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.transducer.transducer import Transducer
from earshot.models.transducer_config import TransducerConfig

KINDS: dict[str, tuple[int, ...]] = {"rnnt": (), "tdt": (0, 1, 2)}
BINS = range(16, 70, 6)
"""Of the digits, as the model that hears tones has them."""
FIRST_DIGIT = 3
QUIET = 18.0
"""The blank's logit; a tone's is the logarithm of its power."""
NEVER = -1e4


def with_transducer(tones: LoadedModel, kind: str) -> LoadedModel:
    """The model that hears tones with a head beside its CTC head."""
    model = copy.copy(tones.model)
    model.__dict__["_modules"] = dict(model._modules)
    model.__dict__["transducer"] = tone_head(tones.tokenizer.vocab_size, KINDS[kind])
    return replace(tones, name=f"tones_{kind}", model=model)


def tone_head(vocab_size: int, durations: Sequence[int]) -> Transducer:
    """A head of so many labels; what was said last is not said again."""
    outputs = vocab_size + 1 + len(durations)
    config = TransducerConfig(
        vocab_size, encoder_size=80, predictor_size=vocab_size + 1, joint_size=outputs,
        durations=tuple(durations), max_symbols=2,
    )  # fmt: skip
    head = Transducer(config).eval().requires_grad_(False)
    for parameter in head.parameters():
        parameter.zero_()
    head.joint.output.weight.copy_(torch.eye(outputs))
    for digit, column in enumerate(BINS):
        head.joint.encoder.weight[FIRST_DIGIT + digit, column] = 1.0
    head.joint.encoder.bias[vocab_size] = QUIET
    if durations:
        head.joint.encoder.bias[vocab_size + 1 + list(durations).index(1)] = 10.0
    head.joint.predictor.weight[:vocab_size, :vocab_size] = NEVER * torch.eye(vocab_size)
    remember_the_last(head)
    return head
