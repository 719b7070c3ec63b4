"""Slots that remember, and boosts: all that decoders of a transducer's head have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.errors import CapacityExceeded
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.boosting.boosting import CompiledBoosts, compile_boosts
from earshot.streaming.events import BoostWarning
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.endpoint import Endpoint, FrameEvidence
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.segment_boundary import word_boundary
from earshot.streaming.stream_config import Boost, StreamConfig
from earshot.streaming.transducer.greedy_loop import GreedyLoop
from earshot.streaming.transducer.spelling import Spelling
from earshot.streaming.transducer.transcript import Transcript

TURN_ENDS = ("<EOU>",)
"""Labels by which NeMo's models say that the speaker has finished; `<EOB>` ends a mere "uh-huh"."""

UNKNOWN = ("<unk>",)
"""Labels without a text for what somebody has said."""

Memory = TypeVar("Memory")


class LabelDecoder(ABC, Generic[Memory]):
    """See `StreamDecoder`.

    A slot holds what the predictor remembers, which goes on over endpoints. Nothing is ever walked
    twice: labels behind an endpoint are kept for the next segment (`Rest`).
    """

    counts = SearchCounts()

    def __init__(
        self, loop: GreedyLoop, tokenizer: Tokenizer, silence: Memory, max_streams: int
    ) -> None:
        self._loop = loop
        self._tokenizer = tokenizer
        self._silence = silence
        self._spoken = [silence] * max_streams
        self._spelling = Spelling(tokenizer)
        ids = tokenizer.units.ids
        unknown = (ids[symbol] for symbol in UNKNOWN if symbol in ids)
        self._unspoken = (self._spelling.marks.ids | tokenizer.silent_units).difference(unknown)
        self._turn_ends = frozenset(ids[symbol] for symbol in TURN_ENDS if symbol in ids)

    @abstractmethod
    def _walk(self, lanes: Sequence[Lane]) -> None:
        """Give each lane what is found in its frames, as its output."""

    @abstractmethod
    def _take(self, lane: Lane) -> None:
        """Give the segment the labels of the frames that belong to it; once."""

    @abstractmethod
    def _leading(self, stream: ActiveStream) -> Transcript:
        """The likeliest labels of the stream's segment."""

    def decode(self, lanes: Sequence[Lane]) -> None:
        """All lanes in one batch."""
        moving = [lane for lane in lanes if lane.cut.frames]
        self._walk([lane for lane in moving if lane.output is None])
        for lane in moving:
            self._take(lane)

    def decode_again(self, lanes: Sequence[Lane]) -> None:
        """What a lane has walked it keeps, and takes once."""
        self.decode(lanes)

    def boundary(self, lane: Lane, endpoint: Endpoint) -> int:
        """The widest gap near the segment's end."""
        stream = lane.stream
        # Marks stay where they were found: none is to be divided from its word.
        found = self._spelling.heard(self._leading(stream), stream)
        return word_boundary(endpoint, found, stream.settings.chunking.frame_ms)

    def restart(self, endings: Sequence[Ending]) -> None:
        """After a flush nothing was said; after an endpoint it is remembered."""
        for ending in endings:
            if ending.boundary is None:
                self._spoken[ending.stream.slot] = self._silence

    def compile(self, search: str, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """Phrases by their labels."""
        return compile_boosts(boosts, self._tokenizer)

    def configure(
        self, stream: ActiveStream, config: StreamConfig, search: str, boosts: CompiledBoosts
    ) -> tuple[BoostWarning, ...]:
        """Boost from the next chunk on: what was decoded stays."""
        if boosts.phrases != stream.boosts.phrases:
            boosts = self._boosted(stream, boosts)
        stream.config, stream.search, stream.boosts = config, search, boosts
        return boosts.told

    def memory_of(self, stream: ActiveStream) -> object:
        """The memory of the stream, which is never changed."""
        return self._spoken[stream.slot]

    def recall(self, stream: ActiveStream, memory: object) -> None:
        """Go on from what was said."""
        assert isinstance(memory, type(self._silence))
        self._spoken[stream.slot] = memory

    def free(self, stream: ActiveStream) -> None:
        """Nothing was said, and nothing is boosted."""
        self._spoken[stream.slot] = self._silence
        self._loop.set_boost(stream.slot, None)

    def _evidence(self, lane: Lane, found: Transcript) -> FrameEvidence:
        threshold = lane.stream.config.endpoint.blank_threshold
        return found.evidence(threshold, self._turn_ends, self._unspoken)

    def _boosted(self, stream: ActiveStream, boosts: CompiledBoosts) -> CompiledBoosts:
        """The boosts that the stream's slot now has: none where they do not fit."""
        assert boosts.table is None or isinstance(boosts.table, BoostTable)
        try:
            self._loop.set_boost(stream.slot, boosts.table)
        except CapacityExceeded as error:
            return boosts.refused(str(error))
        return boosts
