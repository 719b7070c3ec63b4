"""Text of plain files, of no more than so many bytes."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class FileTooLarge(OSError):
    """A file of more bytes than its reader takes."""


def read_plain_text(path: Path, most_bytes: int) -> str:
    """UTF-8 text of a file.

    Raises FileTooLarge, OSError for one that is missing or no plain file (a pipe would never end,
    nor would a device), UnicodeDecodeError for what is no text.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is no plain file")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise FileTooLarge(f"it is too large, of more than {most_bytes} bytes")
    return content.decode("utf-8")
