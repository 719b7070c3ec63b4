"""Folders that runs and models are written to."""

from __future__ import annotations

from pathlib import Path

from earshot.training.errors import NoPlace


def make_folder(folder: Path) -> Path:
    """The folder, made if it is not there. Raises NoPlace, for one where a file is say."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NoPlace(f"cannot write to a folder {folder}: {error.strerror}") from error
    return folder
