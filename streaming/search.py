"""What the first pass asks of a way to search."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from streaming.active_stream import ActiveStream
from streaming.boosting import CompiledBoosts
from streaming.hypothesis import Best, Hypothesis
from streaming.lane import Lane
from streaming.search_counts import SearchCounts


class Search(Protocol):
    """One way to search, for the streams that are to be searched so; their state is in slots."""

    @property
    def counts(self) -> SearchCounts:
        """What it could not do so far."""

    def advance(self, lanes: Sequence[Lane]) -> None:
        """Walk over the lanes' used frames; there are some in each."""

    def restart(self, streams: Sequence[ActiveStream]) -> None:
        """Forget the segments of these streams, which are over; options and boosts stay."""

    def rewind(self, stream: ActiveStream, log_probs: Tensor | None) -> None:
        """Forget the walk over a segment, and walk over all its frames `(T, V)` if there are some.

        What was to be counted of the first walk is forgotten too.
        """

    def configure(self, stream: ActiveStream, boosts: CompiledBoosts) -> None:
        """Use the stream's options and these boosts in its slot, which is then restarted.

        Raises CapacityExceeded when the boosts of all streams do not fit together.
        """

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The best hypothesis of each stream."""

    def nbest(self, stream: ActiveStream, count: int, *, ended: bool) -> list[Hypothesis]:
        """Up to `count` hypotheses, best first; `ended` where an utterance ends, not only words."""


def batch_of(lanes: Sequence[Lane], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Slots `(B,)`, log-probabilities `(B, T, V)` padded with zeros, and lengths `(B,)`."""
    longest = max(lane.used for lane in lanes)
    vocab_size = lanes[0].log_probs.size(1)
    batch = torch.zeros(len(lanes), longest, vocab_size, device=device)
    for row, lane in enumerate(lanes):
        batch[row, : lane.used] = lane.log_probs[: lane.used]
    lengths = torch.tensor([lane.used for lane in lanes], device=device)
    return slots_of([lane.stream for lane in lanes], device), batch, lengths


def replay_of(
    stream: ActiveStream, log_probs: Tensor, device: torch.device
) -> tuple[Tensor, Tensor, Tensor]:
    """All frames `(T, V)` of one stream as a batch of its own."""
    lengths = torch.tensor([len(log_probs)], device=device)
    return slots_of([stream], device), log_probs[None].contiguous(), lengths


def slots_of(streams: Sequence[ActiveStream], device: torch.device) -> Tensor:
    """The streams' slots `(B,)`."""
    return torch.tensor([stream.slot for stream in streams], device=device)
