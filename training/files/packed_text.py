"""Text files, plain or packed by gzip or xz."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import IO

OPENERS = {".xz": lzma.open, ".gz": gzip.open}


def open_text(path: Path) -> IO[str]:
    """For reading; its suffix says how it is packed. UTF-8."""
    return OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8")  # type: ignore[operator,no-any-return]
