"""A part of a file, as a file of its own."""

from __future__ import annotations

import io
import os
from typing import IO, Any


class Window(io.RawIOBase):
    """Bytes `offset` to `offset + size` of a file, to read and to seek in.

    It takes no notice of where others read in that file, nor does it close it.
    """

    def __init__(self, file: IO[bytes], offset: int, size: int) -> None:
        self._descriptor, self._offset, self._size = file.fileno(), offset, size
        self._at = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """The new place, from the start, from here or from the end. Raises OSError before 0."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise OSError(f"cannot seek to {start + offset}")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Reads what fits, straight into `buffer`; 0 bytes at the end."""
        left = max(self._size - self._at, 0)
        view = memoryview(buffer).cast("B")[:left]
        count = os.preadv(self._descriptor, [view], self._offset + self._at) if view else 0
        self._at += count
        return count


def open_window(file: IO[bytes], offset: int, size: int) -> IO[bytes]:
    """A buffered `Window`."""
    return io.BufferedReader(Window(file, offset, size))
