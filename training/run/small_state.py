"""A run's weights in half precision and its place in the schedule: small enough to travel.

What is left behind are the optimiser's moments, three quarters of a run's whole state; a few
hundred updates at a rising rate find them again (`rewarmed`).
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import nn

from earshot.models.checkpoints.files.safetensors_file import (
    read_with_metadata,
    write_safetensors_file,
)
from earshot.models.checkpoints.own_format import ALWAYS_FLOAT32
from earshot.models.errors import NotACheckpoint
from earshot.training.errors import TrainingStateError
from earshot.training.run.run_identity import Identity, require_same
from earshot.training.run.saved_file import taking_up
from earshot.training.run.training_state import Progress

SMALL_FILE = "small.safetensors"
REWARM_STEPS = 200


def save_small(folder: Path, identity: Identity, model: nn.Module, progress: Progress) -> None:
    """Writes the file whole or not at all."""
    place = {"identity": identity, "progress": progress.to_dict()}
    tensors = {
        name: tensor.detach().to("cpu", _stored(name, tensor)).contiguous()
        for name, tensor in model.state_dict().items()
    }
    write_safetensors_file(folder / SMALL_FILE, tensors, {"place": json.dumps(place)})


def load_small(folder: Path, identity: Identity, model: nn.Module) -> Progress | None:
    """Takes up weights and place from `folder`; None if there are none.

    Checkpoints that were kept are not there any more. Raises TrainingStateError if another recipe
    saved them, or the file is broken.
    """
    path = folder / SMALL_FILE
    if not path.exists():
        return None
    with taking_up(path):
        weights, place = _read(path)
        require_same(path, place["identity"], identity)
        own = model.state_dict()
        model.load_state_dict({name: each.to(own[name].dtype) for name, each in weights.items()})
        progress = Progress.from_dict({**place["progress"], "kept": []}, folder)
    progress.warm_from = progress.step
    return progress


def rewarmed(progress: Progress) -> float:
    """The share of the learning rate for a run that has lost its moments."""
    if progress.warm_from == 0:
        return 1.0
    return min(1.0, (progress.step - progress.warm_from + 1) / REWARM_STEPS)


def _read(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, dict[str, object]]]:
    try:
        weights, said = read_with_metadata(path)
        return weights, json.loads(said["place"])
    except (NotACheckpoint, KeyError, ValueError, RecursionError) as error:
        raise TrainingStateError(f"{path} is broken, or not a run's file") from error


def _stored(name: str, tensor: torch.Tensor) -> torch.dtype:
    whole = not tensor.is_floating_point() or name in ALWAYS_FLOAT32
    return tensor.dtype if whole else torch.float16
