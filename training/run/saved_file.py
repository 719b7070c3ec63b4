"""Files of tensors: written whole or not at all, and known to be broken when they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from earshot.models.checkpoints.files.torch_archive import READ_ERRORS
from earshot.training.errors import TrainingStateError


def save_whole(path: Path, state: dict[str, Any]) -> None:
    """The file is there entirely or not at all."""
    partial = path.with_name(path.name + ".partial")
    torch.save(state, partial)
    partial.replace(path)


def read_saved(path: Path) -> dict[str, Any]:
    """Load a file on the CPU. Raises TrainingStateError if it is missing or broken."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except READ_ERRORS as error:
        # Not torch's words, which advise to load the file with its code.
        reason = error.strerror if isinstance(error, OSError) else "cut short, or not a run's file"
        raise TrainingStateError(f"{path} is missing or broken: {reason}") from error
    if not isinstance(state, dict):
        raise TrainingStateError(f"{path} is broken: it holds no names")
    return state


@contextmanager
def taking_up(path: Path) -> Iterator[None]:
    """Whatever does not fit, of what `path` held, becomes a TrainingStateError."""
    try:
        yield
    except READ_ERRORS as error:
        told = " ".join(str(error).split())  # torch's go over many lines
        reason = f"it lacks {told}" if isinstance(error, KeyError) else told
        raise TrainingStateError(f"{path} does not fit, or is broken: {reason}") from error
