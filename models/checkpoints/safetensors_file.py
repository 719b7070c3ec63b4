"""Safetensors files, whose library checks every length and offset against the file."""

from __future__ import annotations

from pathlib import Path

import safetensors
import safetensors.torch
from torch import Tensor

from earshot.models.errors import NotACheckpoint


def read_safetensors_file(path: Path) -> dict[str, Tensor]:
    """Tensors by name, on the CPU. Raises NotACheckpoint."""
    try:
        return safetensors.torch.load_file(path)
    except (OSError, safetensors.SafetensorError) as error:
        raise NotACheckpoint(f"{path} is not a safetensors file: {error}") from error
