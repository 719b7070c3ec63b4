"""Compressed archives, as NeMo before 1.7 wrote them: unpacked into a file without a name."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from pathlib import Path
from typing import IO

from earshot.models.errors import CheckpointError, NotACheckpoint, UnsafeCheckpoint

GZIP_MAGIC = b"\x1f\x8b"
MAX_BYTES = 16 * 1024**3
MAX_RATIO = 20
"""Weights hardly shrink at all, and configurations to a tenth."""

SMALL = 1024 * 1024
"""Archives up to this size may be of any ratio."""

CHUNK = 1024 * 1024


def open_tar(path: Path) -> IO[bytes]:
    """The archive's tar: the file itself, or what its gzip holds, unpacked.

    The unpacked one is gone once closed, as when the process dies. Raises NotACheckpoint for what
    cannot be read, UnsafeCheckpoint for what unpacks to far more than its size, CheckpointError
    where there is no room for it.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise NotACheckpoint(f"cannot read {path}: {error}") from error
    start = file.read(len(GZIP_MAGIC))
    file.seek(0)
    if start != GZIP_MAGIC:
        return file
    with file:
        return _unpacked(file, path)


def _unpacked(file: IO[bytes], path: Path) -> IO[bytes]:
    most = min(max(SMALL, MAX_RATIO * path.stat().st_size), MAX_BYTES)
    try:
        target = tempfile.TemporaryFile()  # noqa: SIM115  (the caller's to close)
        try:
            _unpack(gzip.GzipFile(fileobj=file), target, most, path)
        except BaseException:
            target.close()
            raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise NotACheckpoint(f"{path} is a damaged or truncated gzip: {error}") from error
    except OSError as error:
        raise CheckpointError(f"cannot unpack {path}: {error}") from error
    return target


def _unpack(packed: gzip.GzipFile, target: IO[bytes], most: int, path: Path) -> None:
    total = 0
    while chunk := packed.read(CHUNK):
        total += len(chunk)
        if total > most:
            raise UnsafeCheckpoint(f"{path} unpacks to more than {most} bytes, far over its size")
        target.write(chunk)
    target.flush()
