"""Where a run stands, and how that is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from earshot.training.errors import TrainingStateError
from earshot.training.run.averaging import ScoredCheckpoint
from earshot.training.run.run_identity import Identity, require_same
from earshot.training.run.saved_file import read_saved, save_whole, taking_up

STATE_FILE = "state.pt"


@dataclass
class Progress:
    """Updates done, epoch, next batch of it, audio heard, checkpoints kept.

    warm_from: the update from which the rate rises once more, after moments were lost.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    heard_seconds: float = 0.0
    kept: list[ScoredCheckpoint] = field(default_factory=list)
    warm_from: int = 0

    def place(self) -> dict[str, float]:
        """For the log."""
        hours = round(self.heard_seconds / 3600, 3)
        return {"step": self.step, "epoch": self.epoch, "heard_h": hours}

    def to_dict(self) -> dict[str, Any]:
        """Plain values; checkpoints by the names of their files."""
        kept = [(kept.error, kept.step, kept.path.name) for kept in self.kept]
        return {**vars(self), "kept": kept}

    @classmethod
    def from_dict(cls, values: dict[str, Any], folder: Path) -> Progress:
        """The inverse of `to_dict` for a run in `folder`."""
        kept = [
            ScoredCheckpoint(error, step, folder / name) for error, step, name in values["kept"]
        ]
        return cls(**{**values, "kept": kept})


def save_state(
    folder: Path,
    identity: Identity,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    progress: Progress,
    side_head: nn.Module | None = None,
) -> None:
    """Writes the whole state of a run, and what it is the state of."""
    state = {
        "identity": identity,
        "model": model.state_dict(),
        "phone_head": None if side_head is None else side_head.state_dict(),
        "optimiser": optimiser.state_dict(),
        "random": torch.get_rng_state(),
        "cuda_random": torch.cuda.get_rng_state() if torch.cuda.is_available() else None,
        "progress": progress.to_dict(),
    }
    save_whole(folder / STATE_FILE, state)


def load_state(
    folder: Path,
    identity: Identity,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    side_head: nn.Module | None = None,
) -> Progress | None:
    """Takes up the state saved in `folder`; None if there is none.

    Raises TrainingStateError if another recipe saved it, or it is broken.
    """
    path = folder / STATE_FILE
    if not path.exists():
        return None
    state = read_saved(path)
    with taking_up(path):
        require_same(path, state["identity"], identity)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        if side_head is not None:
            side_head.load_state_dict(state["phone_head"])
        torch.set_rng_state(state["random"])
        if state["cuda_random"] is not None and torch.cuda.is_available():
            torch.cuda.set_rng_state(state["cuda_random"])
        return Progress.from_dict(state["progress"], folder)


@dataclass(frozen=True)
class SavedRun:
    """What an export needs of a run: its best checkpoints, best first, and whose units it writes.

    units: their checksum.
    """

    checkpoints: list[Path]
    units: str

    @classmethod
    def read(cls, folder: Path) -> SavedRun:
        """Raises TrainingStateError if there is none, it is broken or has no checkpoint."""
        path = folder / STATE_FILE
        if not path.exists():
            raise TrainingStateError(f"no run at {folder}")
        state = read_saved(path)
        with taking_up(path):
            progress = Progress.from_dict(state["progress"], folder)
            units: str = state["identity"]["units"]
        if not progress.kept:
            raise TrainingStateError(f"the run at {folder} has no checkpoint yet")
        return cls([checkpoint.path for checkpoint in progress.kept], units)
