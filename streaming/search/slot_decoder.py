"""The walk over frames that all searches have in common whose kernels work in slots."""

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.search import padded, slots_of
from earshot.streaming.search.search_frames import SearchFrames
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Lane


class SlotSearch(Protocol):
    """A search of `decoder_kernels`, whose state lies in slots."""

    @property
    def device(self) -> torch.device:
        """Where the slots are."""

    def advance(self, slots: Tensor, log_probs: Tensor, lengths: Tensor) -> None:
        """Walk over frames `(B, T, V)`, `lengths (B,)` of which are real."""

    def reset(self, slots: Tensor) -> None:
        """Start the slots `(B,)` over."""


S = TypeVar("S", bound=SlotSearch)


class SlotDecoder(Generic[S]):
    """The part of a `Search` that moves slots."""

    def __init__(self, search: S, frames: SearchFrames) -> None:
        self._search = search
        self._frames = frames
        self._device = search.device
        self.counts = SearchCounts()

    def advance(self, lanes: Sequence[Lane]) -> None:
        """All lanes in one launch."""
        slots = slots_of([lane.stream for lane in lanes], self._device)
        self._search.advance(slots, *self._frames.batch(lanes))

    def _count(self, stream: ActiveStream, counts: SearchCounts) -> None:
        """Add to the counts of the search, and to those of the stream."""
        self.counts += counts
        stream.search_counts += counts

    def rewind(self, stream: ActiveStream, encoded: Tensor | None) -> None:
        """One lane of many frames, encoded `(T, D)`; None for a segment without any."""
        slots = slots_of([stream], self._device)
        self._search.reset(slots)
        if encoded is not None:
            self._search.advance(slots, *padded([self._frames.whole(encoded)]))
