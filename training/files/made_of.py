"""Files that are made of others and kept: a note beside each says what it was made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from earshot.training.errors import CorpusError


def keep_made(path: Path, made_of: Sequence[str], make: Callable[[], None]) -> None:
    """Calls `make`, which writes `path`, unless it is there and was made of the same."""
    note = path.with_name(path.name + ".made_of.json")
    if path.exists() and _read(note) == list(made_of):
        return
    note.unlink(missing_ok=True)  # what is cut short is not taken for whole
    make()
    note.write_text(json.dumps(list(made_of)), encoding="utf-8")


def _read(note: Path) -> object:
    try:
        return json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def file_checksum(path: Path) -> str:
    """Checksum of a file's bytes. Raises CorpusError."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
