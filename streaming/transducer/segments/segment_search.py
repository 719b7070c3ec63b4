"""Searches of a transducer's head where encoder and predictor begin anew with each segment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from torch import Tensor

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.boosting.boosting import CompiledBoosts, compile_boosts
from earshot.streaming.errors import OutputNotFinite
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import Boost, StreamConfig
from earshot.streaming.transducer.greedy_loop import GreedyLoop
from earshot.streaming.transducer.spelling import Spelling

Found = TypeVar("Found")


class SegmentSearch(ABC, Generic[Found]):
    """See `Search`. What was found is kept in the segment, boosts are in the slots of `loop`.

    What a segment says depends on its frames and what its stream asks for, however it was cut into
    chunks; but a beam's boosted words are told, and stay, chunk by chunk.
    """

    counts = SearchCounts()

    def __init__(self, loop: GreedyLoop, tokenizer: Tokenizer, nothing: Found) -> None:
        self._loop = loop
        self._tokenizer = tokenizer
        self._nothing = nothing
        self._spelling = Spelling(tokenizer)

    @abstractmethod
    def _walk(
        self, chunks: Sequence[Tensor], before: Sequence[Found], streams: Sequence[ActiveStream]
    ) -> list[Found | None]:
        """All that is found once each stream's frames `(T_i, D)` are heard behind those before.

        None for a stream for which the network's output is not finite.
        """

    def advance(self, lanes: Sequence[Lane]) -> None:
        """All lanes in one batch. Raises OutputNotFinite where the output is not finite."""
        streams = [lane.stream for lane in lanes]
        self._go_on(streams, [lane.encoded[: lane.used] for lane in lanes])

    def restart(self, streams: Sequence[ActiveStream]) -> None:
        """Nothing was found."""
        for stream in streams:
            stream.segment.search_state = None

    def rewind(self, stream: ActiveStream, encoded: Tensor | None) -> None:
        """Walk over the whole segment anew. Raises OutputNotFinite as `advance` does."""
        self.restart([stream])
        if encoded is not None:
            self._go_on([stream], [encoded])

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """Phrases by their labels."""
        return compile_boosts(boosts, self._tokenizer)

    def configure(self, stream: ActiveStream, boosts: CompiledBoosts) -> None:
        """Boosts are all that lies in a slot. Raises CapacityExceeded where they do not fit."""
        assert boosts.table is None or isinstance(boosts.table, BoostTable)
        self._loop.set_boost(stream.slot, boosts.table)

    def _found(self, stream: ActiveStream) -> Found:
        found = stream.segment.search_state
        return found if isinstance(found, type(self._nothing)) else self._nothing

    def _go_on(self, streams: Sequence[ActiveStream], chunks: Sequence[Tensor]) -> None:
        before = [self._found(stream) for stream in streams]
        after = self._walk(chunks, before, streams)
        if any(each is None for each in after):
            raise OutputNotFinite
        for stream, found in zip(streams, after, strict=True):
            stream.segment.search_state = found
