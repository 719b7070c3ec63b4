"""Safetensors files, whose library checks every length and offset against the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import safetensors
import safetensors.torch
from torch import Tensor

from earshot.models.errors import NotACheckpoint

# The library does not ask whether a tensor may have the shape that a file says; torch then does.
READ_ERRORS = (OSError, safetensors.SafetensorError, TypeError, RuntimeError)


def read_safetensors_file(path: Path) -> dict[str, Tensor]:
    """Tensors by name, on the CPU. Raises NotACheckpoint."""
    return read_with_metadata(path)[0]


def read_with_metadata(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors by name, on the CPU, and what the file says of them. Raises NotACheckpoint."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            return file.get_tensors(), file.metadata() or {}
    except READ_ERRORS as error:
        reason = str(error).partition("\n")[0]
        raise NotACheckpoint(f"{path} is not a safetensors file: {reason}") from error


def write_safetensors_file(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    """The file is there entirely or not at all; others may read it as the umask says.

    The library's own files are for the user alone.
    """
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(safetensors.torch.save(dict(tensors), dict(metadata) if metadata else None))
    partial.replace(path)
