"""Checkpoint averaging: the mean of the weights of the best few checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from earshot.training.errors import TrainingStateError
from earshot.training.recipe.checkpoint_config import Kept
from earshot.training.run.saved_file import read_saved, taking_up


@dataclass(frozen=True, order=True)
class ScoredCheckpoint:
    """A checkpoint and the error it makes on the development data (lower is better)."""

    error: float
    step: int
    path: Path


def keep(
    checkpoints: Sequence[ScoredCheckpoint], count: int, which: Kept
) -> list[ScoredCheckpoint]:
    """The `count` best, best first, of equal ones the later; or the last, latest first.

    Deletes the files of the others.
    """

    def rank(checkpoint: ScoredCheckpoint) -> tuple[float, int]:
        return (checkpoint.error if which == "best" else 0.0, -checkpoint.step)

    ranked = sorted(checkpoints, key=rank)
    for dropped in ranked[count:]:
        dropped.path.unlink(missing_ok=True)
    return ranked[:count]


def average_checkpoints(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of the state dicts in `paths`, summed in float64; integers come from the first.

    Raises ValueError if there are none, TrainingStateError for one that is missing or broken, or
    does not hold the same tensors.
    """
    if not paths:
        raise ValueError("no checkpoints to average")
    first: dict[str, Tensor] = read_saved(paths[0])
    sums = {name: tensor.double() for name, tensor in first.items() if tensor.is_floating_point()}
    for path in paths[1:]:
        state = read_saved(path)
        if state.keys() != first.keys():
            raise TrainingStateError(f"{path} holds other tensors than {paths[0]}")
        with taking_up(path):
            for name, total in sums.items():
                total += state[name].double()
    averaged = {name: (total / len(paths)).to(first[name].dtype) for name, total in sums.items()}
    return {name: averaged.get(name, tensor) for name, tensor in first.items()}


def mixed_with(
    weights: Mapping[str, Tensor], others: Mapping[str, Tensor], share: float
) -> dict[str, Tensor]:
    """`share` of the other weights of the same names, the rest of these; integers stay.

    A little of where a run started keeps what it has not heard since (Wortsman 2022, WiSE-FT).
    """
    return {
        name: torch.lerp(tensor.double(), others[name].double(), share).to(tensor.dtype)
        if tensor.is_floating_point()
        else tensor
        for name, tensor in weights.items()
    }
