"""A way to hear: the encoder's part of a step, which may yet be dropped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from earshot.streaming.stream.chunking import Chunking
from earshot.streaming.stream.lane import Lane


@dataclass(frozen=True)
class Heard:
    """Encoder frames `(T_i, D)` of each lane.

    moves: what moves the state of streams on, beside the lanes that it moves.
    """

    encoded: list[Tensor]
    moves: Sequence[tuple[Sequence[Lane], Callable[[], None]]] = ()


class Hearing(Protocol):
    """An encoder's way to hear streams, with whatever state of theirs it needs."""

    @property
    def chunking(self) -> Chunking:
        """The chunks of streams that ask for none."""

    @property
    def file_chunking(self) -> Chunking | None:
        """The chunks of files that ask for none, where they are others."""

    @property
    def chunkings(self) -> Sequence[Chunking]:
        """All from which streams may choose."""

    @property
    def device(self) -> torch.device:
        """Where its frames are."""

    @property
    def buffered(self) -> bool:
        """Whether frames wait for what comes after them, and are heard more than once."""

    def __call__(self, lanes: Sequence[Lane]) -> Heard:
        """Hear the lanes' windows, whose features are there."""

    def memory_of(self, slot: int) -> object:
        """A copy of what the stream in a slot has heard."""

    def recall(self, slot: int, memory: object) -> None:
        """Have the stream in a slot remember that."""

    def reset(self, slots: Sequence[int]) -> None:
        """Forget what the streams in these slots have heard."""


def by_chunking(lanes: Sequence[Lane]) -> Iterator[tuple[Chunking, list[Lane]]]:
    """The lanes in groups whose streams are cut alike."""
    groups: dict[Chunking, list[Lane]] = defaultdict(list)
    for lane in lanes:
        groups[lane.stream.chunking].append(lane)
    yield from groups.items()


def windows_of(lanes: Sequence[Lane], size: int, before: int = 0) -> Tensor:
    """The lanes' features `(B, size, F)`, zeros where there are none.

    before: of the `size` feature frames, those ahead of the cut's own; a lane near its stream's
    start has fewer of them.
    """
    windows = [lane.stream.window(lane.cut) for lane in lanes]
    batch = torch.zeros(len(lanes), size, windows[0].size(1))
    for row, (lane, window) in enumerate(zip(lanes, windows, strict=True)):
        missing = max(before - lane.stream.window_start, 0)
        batch[row, missing : missing + len(window)] = window
    return batch
