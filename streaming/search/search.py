"""What the first pass asks of a way to search."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import Boost, StreamConfig


class Search(Protocol):
    """One way to search, for the streams that are to be searched so; their state is in slots."""

    @property
    def counts(self) -> SearchCounts:
        """Counters of what it could not do so far."""

    def advance(self, lanes: Sequence[Lane]) -> None:
        """Walk over the lanes' used frames; there are some in each."""

    def restart(self, streams: Sequence[ActiveStream]) -> None:
        """Forget the segments of these streams, which are over; options and boosts stay."""

    def rewind(self, stream: ActiveStream, encoded: Tensor | None) -> None:
        """Forget the walk over a segment; walk over all its encoder frames `(T, D)` if there are.

        What was to be counted of the first walk is forgotten too.
        """

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """The boosts that a stream with this config asks for, as this search takes them.

        For any thread. What cannot be boosted is named in the warnings.
        """

    def configure(self, stream: ActiveStream, boosts: CompiledBoosts) -> None:
        """Use the stream's options and these boosts in its slot, which is then restarted.

        Raises CapacityExceeded when the boosts of all streams do not fit together.
        """

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The best hypothesis of each stream."""

    def nbest(self, stream: ActiveStream, count: int, *, ended: bool) -> list[Hypothesis]:
        """The best hypotheses, `count` or more if there are so many, best first.

        `ended` where an utterance ends, not only words.
        """


def padded(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Frames `(T_i, N)` as one batch `(B, T, N)`, padded with zeros, and the lengths `(B,)`."""
    lengths = torch.tensor([len(row) for row in rows], device=rows[0].device)
    return pad_sequence(list(rows), batch_first=True), lengths


def slots_of(streams: Sequence[ActiveStream], device: torch.device) -> Tensor:
    """The streams' slots `(B,)`."""
    return torch.tensor([stream.slot for stream in streams], device=device)
