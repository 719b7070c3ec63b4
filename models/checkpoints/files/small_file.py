"""Configuration files: text of a sane size."""

from __future__ import annotations

from pathlib import Path

from earshot.models.errors import CheckpointError, UnsafeCheckpoint

MAX_CONFIG_BYTES = 4 * 1024 * 1024


def read_small_text(path: Path) -> str:
    """Text of a configuration file. Raises CheckpointError if it is missing, not text, or huge."""
    try:
        if path.stat().st_size > MAX_CONFIG_BYTES:
            raise UnsafeCheckpoint(f"{path} is too large for a configuration file")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"cannot read {path}: {error}") from error
