"""Safetensors files, whose library checks every length and offset against the file."""

from __future__ import annotations

from collections.abc import Mapping
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


def write_safetensors_file(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    """The file is there entirely or not at all; others may read it as the umask says.

    The library's own files are for the user alone.
    """
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(safetensors.torch.save(dict(tensors), dict(metadata) if metadata else None))
    partial.replace(path)
