"""Configuration files: text of a sane size."""

from __future__ import annotations

from pathlib import Path

from earshot.models.errors import CheckpointError, UnsafeCheckpoint
from earshot.models.plain_text import FileTooLarge, read_plain_text

MAX_CONFIG_BYTES = 4 * 1024 * 1024


def read_small_text(path: Path) -> str:
    """Text of a configuration file. Raises CheckpointError if it is missing, not text, or huge."""
    try:
        return read_plain_text(path, MAX_CONFIG_BYTES)
    except FileTooLarge as error:
        raise UnsafeCheckpoint(f"{path} is too large for a configuration file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"cannot read {path}: {error}") from error
