"""Columns of numbers that are made from the first row on, in memory or in files mapped into it.

Whoever makes them takes ``together`` rows at a time: what a process holds beside its columns does
not grow with them.
"""

import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import LanguageModelError

Scalar = TypeVar("Scalar", bound=np.generic)
Ints = npt.NDArray[np.int32]

TOGETHER = 1 << 23
"""Rows at a time where nobody says how many."""
BYTES_OF_A_ROW = 64
"""What sorting takes of memory for a row: key, place, order, and copies of them."""


class Growing(Generic[Scalar]):
    """A column in memory that grows."""

    def __init__(self, dtype: type[Scalar]) -> None:
        self._dtype = dtype
        self._parts: list[npt.NDArray[Scalar]] = []

    def add(self, rows: npt.NDArray[Scalar]) -> None:
        """Write more rows. Raises LanguageModelError where there is no room."""
        self._parts.append(rows)

    def whole(self) -> npt.NDArray[Scalar]:
        """All rows (N,)."""
        return np.concatenate([np.empty(0, self._dtype), *self._parts])


class Columns:
    """Makes columns in memory."""

    def __init__(self, together: int = TOGETHER) -> None:
        self.together = together

    def growing(self, dtype: type[Scalar]) -> Growing[Scalar]:
        """A column without rows yet."""
        return Growing(dtype)

    def filled(self, size: int, value: float, dtype: type[Scalar]) -> npt.NDArray[Scalar]:
        """A column (N,) whose rows are set in any order."""
        return np.full(size, value, dtype)

    def rest(self) -> None:
        """Give back the memory of pages that the disk has."""


class MappedColumns(Columns):
    """Makes columns in files without a name, which are gone when nobody has them mapped any more.

    ``folder`` is where they lie, ``memory`` the bytes that are to be held beside pages of theirs.
    Raises LanguageModelError where there is no room: never later, where a column is written to.
    """

    def __init__(self, folder: Path, memory: int) -> None:
        super().__init__(max(1, memory // BYTES_OF_A_ROW))
        self._folder = folder
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()

    def growing(self, dtype: type[Scalar]) -> Growing[Scalar]:
        """A column without rows yet."""
        return _GrowingFile(self, dtype)

    def filled(self, size: int, value: float, dtype: type[Scalar]) -> npt.NDArray[Scalar]:
        """A column (N,) whose rows are set in any order."""
        try:
            with self.file() as file:
                if size:
                    os.posix_fallocate(file.fileno(), 0, size * np.dtype(dtype).itemsize)
                column = self.mapped(file, dtype)
        except OSError as error:
            raise self.refusal(error) from error
        for part in parts(size, self.together if value else size):
            column[part] = np.dtype(dtype).type(value)
            self.rest()
        return column

    def rest(self) -> None:
        """Give back the memory of pages that the disk has."""
        for each in self._maps:
            each.madvise(mmap.MADV_DONTNEED)

    def file(self) -> IO[bytes]:
        """A file for a column. Raises OSError."""
        return tempfile.TemporaryFile(dir=self._folder)

    def mapped(self, file: IO[bytes], dtype: type[Scalar]) -> npt.NDArray[Scalar]:
        """A file's content. Raises OSError."""
        if not os.fstat(file.fileno()).st_size:
            return np.empty(0, dtype)
        content = mmap.mmap(file.fileno(), 0)
        self._maps.add(content)
        return np.frombuffer(content, dtype)

    def refusal(self, error: OSError) -> LanguageModelError:
        """The error of a column that the disk does not take."""
        return LanguageModelError.unreadable(error, f"columns in {self._folder}")


class _GrowingFile(Growing[Scalar]):
    """A column in a file that grows."""

    def __init__(self, columns: MappedColumns, dtype: type[Scalar]) -> None:
        super().__init__(dtype)
        self._columns = columns
        try:
            self._file = columns.file()
        except OSError as error:
            raise columns.refusal(error) from error
        # Closed also where nobody comes to ask for all of it.
        weakref.finalize(self, self._file.close)

    def add(self, rows: npt.NDArray[Scalar]) -> None:
        """Write more rows. Raises LanguageModelError where there is no room."""
        try:
            self._file.write(np.ascontiguousarray(rows, self._dtype).data)
        except OSError as error:
            raise self._columns.refusal(error) from error

    def whole(self) -> npt.NDArray[Scalar]:
        """All rows (N,)."""
        try:
            with self._file:
                self._file.flush()
                return self._columns.mapped(self._file, self._dtype)
        except OSError as error:
            raise self._columns.refusal(error) from error


def parts(size: int, together: int) -> Iterator[slice]:
    """So many rows at a time, at least one."""
    for begin in range(0, size, max(1, together)):
        yield slice(begin, min(size, begin + max(1, together)))


def groups(sorted_by: Ints, together: int) -> Iterator[slice]:
    """So many rows at a time, and those that follow with the same value."""
    end = 0
    while end < len(sorted_by):
        begin, end = end, min(len(sorted_by), end + together)
        if end < len(sorted_by):
            end = int(np.searchsorted(sorted_by, sorted_by[end - 1], "right"))
        yield slice(begin, end)
