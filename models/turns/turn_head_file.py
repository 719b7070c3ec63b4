"""The file of a head that hears the ends of turns: its weights, and the rule that goes with it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor

from earshot.models.checkpoints.files.safetensors_file import (
    read_with_metadata,
    write_safetensors_file,
)
from earshot.models.checkpoints.tensor_check import check_tensors
from earshot.models.errors import CheckpointError, NotACheckpoint
from earshot.models.turns.turn_head import STRETCHES, TurnHead
from earshot.models.turns.turn_rule import TurnRule

TURNS_FILE = "turns.safetensors"
FORMAT = "earshot turns 1"
RULE = tuple(asdict(TurnRule()))
LEAST_PAUSE, MOST = 0.01, 100.0
"""Weights beyond these are those of no rule that anybody has fitted."""


def save_turn_head(path: Path, head: TurnHead) -> None:
    """The file is there entirely or not at all."""
    tensors = {"weights": head.weights.contiguous(), "means": head.means.contiguous()}
    rule = {name: repr(value) for name, value in asdict(head.rule).items()}
    write_safetensors_file(path, tensors, {"format": FORMAT, **rule})


def load_turn_head(path: Path, device: str) -> TurnHead:
    """Raises CheckpointError."""
    tensors, metadata = read_with_metadata(path)
    if metadata.get("format") != FORMAT:
        raise NotACheckpoint(f"{path} is not a head for the ends of turns")
    try:
        _check(tensors)
        rule = _rule(metadata)
    except CheckpointError as error:
        raise CheckpointError(f"{path} is no usable head for the ends of turns: {error}") from error
    weights, means = (tensors[name].float() for name in ("weights", "means"))
    return TurnHead(weights, means, rule).to(torch.device(device))


def _check(tensors: dict[str, Tensor]) -> None:
    weights = tensors.get("weights", torch.zeros(0, 0))
    width = weights.shape[1] if weights.dim() == 2 else 0
    expected = torch.zeros(len(STRETCHES), width, device="meta")
    check_tensors({"weights": expected, "means": expected}, tensors)
    if not width:
        raise CheckpointError("it has no weights")


def _rule(metadata: dict[str, str]) -> TurnRule:
    try:
        rule = TurnRule(**{name: float(metadata[name]) for name in RULE})
    except KeyError as error:
        raise CheckpointError(f"its rule has no {error}") from error
    except ValueError as error:
        raise CheckpointError(f"its rule has what is no number: {error}") from error
    fits = abs(rule.bias) <= MOST and 0 <= rule.end <= MOST and LEAST_PAUSE <= rule.pause <= MOST
    if not fits:  # NaN fits nowhere
        raise CheckpointError(f"its rule is {rule}")
    return rule
