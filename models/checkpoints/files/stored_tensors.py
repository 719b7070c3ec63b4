"""Tensors that are still in their file: shapes are in memory, numbers are read when wanted.

They are torch's tensors on the device "meta", so that views of them lie in the file as well.
Numbers are read and not mapped: a mapped file that shrinks kills whoever looks at it, and one that
changes has numbers that nobody has checked.
"""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass
from typing import IO, Protocol

import torch
from torch import Tensor

from earshot.models.errors import NotACheckpoint

PLACE = "stored_place"
"""Of a storage: what reads numbers of it, `Stored`."""


class StoredFile:
    """A part of a file, which stays open for as long as some tensor lies in it.

    name: for errors. begin: the part's first byte.
    """

    def __init__(self, file: IO[bytes], name: str, begin: int = 0) -> None:
        self._descriptor, self._name, self._begin = os.dup(file.fileno()), name, begin
        self._state = self._now()
        weakref.finalize(self, os.close, self._descriptor)

    def _now(self) -> tuple[int, int]:
        """The file's size, and when somebody wrote to it last."""
        found = os.fstat(self._descriptor)
        return found.st_size, found.st_mtime_ns

    def read(self, offset: int, count: int) -> bytearray:
        """So many bytes of the part. Raises NotACheckpoint where they are not those of before."""
        size, written = self._now()
        if size < self._state[0]:
            raise NotACheckpoint(f"{self._name} has become shorter while it was read")
        if (size, written) != self._state:
            raise NotACheckpoint(f"{self._name} was written to while it was read")
        content, done = bytearray(count), 0
        while done < count:
            rest, place = memoryview(content)[done:], self._begin + offset + done
            try:
                got = os.preadv(self._descriptor, [rest], place)
            except OSError as error:
                raise NotACheckpoint(f"cannot read {self._name}: {error}") from error
            if got == 0:
                raise NotACheckpoint(f"{self._name} has become shorter while it was read")
            done += got
        return content


class Stored(Protocol):
    """The numbers of a storage on "meta"."""

    def read(self, view: Tensor) -> Tensor:
        """Numbers of a view of the storage, which has some, in memory of their own."""


@dataclass(frozen=True)
class StoredPlace:
    """Where a storage's bytes begin in a file."""

    file: StoredFile
    offset: int

    def read(self, view: Tensor) -> Tensor:
        """See `Stored`. Raises NotACheckpoint for a file that no longer holds them."""
        begin = self.offset + int(view.storage_offset()) * view.element_size()
        content = self.file.read(begin, _span(view))
        return torch.frombuffer(content, dtype=view.dtype).as_strided(view.shape, view.stride())


def store(tensor: Tensor, place: Stored) -> None:
    """Have a tensor on "meta", and all views of it, lie in a file."""
    setattr(tensor.untyped_storage(), PLACE, place)


def place_of(tensor: Tensor) -> Stored | None:
    """The reader of its storage's numbers; None for a tensor in memory."""
    place: Stored | None = getattr(tensor.untyped_storage(), PLACE, None)
    return place


def is_stored(tensor: Tensor) -> bool:
    """Whether its numbers are in a file alone."""
    return place_of(tensor) is not None


def in_memory(tensor: Tensor) -> Tensor:
    """A tensor with its numbers, in memory of its own if it was stored; others as they are.

    Raises NotACheckpoint for a file that no longer holds them.
    """
    place = place_of(tensor)
    if place is None:
        return tensor
    if not tensor.numel():
        return torch.empty(tensor.shape, dtype=tensor.dtype)
    return place.read(tensor)


def _span(tensor: Tensor) -> int:
    """Bytes of its storage from the tensor's first number to the end of its last."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return tensor.element_size() * (1 + sum((size - 1) * stride for size, stride in steps))
