"""Streams decoded by a transducer's head."""

from collections.abc import Sequence

import torch

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.errors import CapacityExceeded
from earshot.decoder_kernels.transducer.label_loop import LabelLoop, LoopMemory
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.boosting.boosting import CompiledBoosts, compile_boosts
from earshot.streaming.events import BoostWarning
from earshot.streaming.results.hypothesis import Best, Hypothesis, TokenHypothesis
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.endpoint import Endpoint
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.rest import Rest
from earshot.streaming.stream.segment import Segment
from earshot.streaming.stream.segment_boundary import word_boundary
from earshot.streaming.stream_config import Boost, StreamConfig
from earshot.streaming.transducer.marks import Marks
from earshot.streaming.transducer.told_best import ToldBest
from earshot.streaming.transducer.transcript import NOTHING_FOUND, Transcript
from earshot.streaming.transducer.walked import Walked, walk_over

TURN_ENDS = ("<EOU>",)
"""Labels by which NeMo's models say that the speaker has finished; `<EOB>` ends a mere "uh-huh"."""

UNKNOWN = ("<unk>",)
"""Labels without a text for what somebody has said."""


class TransducerDecoder:
    """Greedy decoding; see `StreamDecoder`.

    A slot holds what the predictor remembers, which goes on over endpoints; a segment's search
    state is its transcript. Nothing is ever walked twice: labels behind an endpoint are kept for
    the next segment (`Rest`).
    """

    counts = SearchCounts()

    def __init__(self, loop: LabelLoop, tokenizer: Tokenizer, max_streams: int) -> None:
        self._loop = loop
        self._tokenizer = tokenizer
        self._spoken = [loop.begin()] * max_streams
        self._told: list[ToldBest | None] = [None] * max_streams
        self._marks = Marks(tokenizer.units.symbols)
        ids = tokenizer.units.ids
        unknown = (ids[symbol] for symbol in UNKNOWN if symbol in ids)
        self._unspoken = (self._marks.ids | tokenizer.silent_units).difference(unknown)
        self._turn_ends = frozenset(ids[symbol] for symbol in TURN_ENDS if symbol in ids)

    def decode(self, lanes: Sequence[Lane]) -> None:
        """All lanes in one batch."""
        moving = [lane for lane in lanes if lane.cut.frames]
        new = [lane for lane in moving if lane.output is None]
        walk_over(self._loop, new, [self._spoken[lane.stream.slot] for lane in new])
        for lane in moving:
            self._take(lane)

    def decode_again(self, lanes: Sequence[Lane]) -> None:
        """What a lane has walked it keeps, and takes once."""
        self.decode(lanes)

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The one path of each, in which every label is stable."""
        return [self._best(stream) for stream in streams]

    def nbest(self, stream: ActiveStream, *, ended: bool) -> list[Hypothesis]:
        """The one path, which ends with the segment."""
        found = transcript_of(stream.segment).closed
        return [self._spelled(self._marks.placed(found), stream)]

    def boundary(self, lane: Lane, endpoint: Endpoint) -> int:
        """The widest gap near the segment's end."""
        stream = lane.stream
        # Marks stay where they were found: none is to be divided from its word.
        found = self._spelled(transcript_of(stream.segment), stream)
        return word_boundary(endpoint, found, stream.settings.chunking.frame_ms)

    def rest(self, lane: Lane, boundary: int) -> Rest | None:
        """The frames from there on, with the labels that were found in them."""
        segment, walked = lane.stream.segment, _walked(lane)
        encoded = torch.cat((segment.memory()[boundary:], lane.encoded[lane.used :]))
        if not len(encoded):
            return None
        labels = transcript_of(segment).then(walked.transcript.since(lane.used)).since(boundary)
        return Rest(encoded, Walked(labels, walked.after))

    def truncate(self, stream: ActiveStream, frames: int) -> None:
        """Leave the segment the labels of its first frames."""
        found = transcript_of(stream.segment).until(frames)
        stream.segment.truncate(frames)
        stream.segment.search_state = found

    def restart(self, endings: Sequence[Ending]) -> None:
        """After a flush nothing was said; after an endpoint it is remembered."""
        for ending in endings:
            if ending.boundary is None:
                self._spoken[ending.stream.slot] = self._loop.begin()

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
        """What the loop remembers, which is never changed."""
        return self._spoken[stream.slot]

    def recall(self, stream: ActiveStream, memory: object) -> None:
        """Go on from what was said."""
        assert isinstance(memory, LoopMemory)
        self._spoken[stream.slot] = memory

    def free(self, stream: ActiveStream) -> None:
        """Nothing was said, and nothing is boosted."""
        self._spoken[stream.slot] = self._loop.begin()
        self._told[stream.slot] = None
        self._loop.set_boost(stream.slot, None)

    def _take(self, lane: Lane) -> None:
        """Give the segment the labels of the frames that belong to it; once."""
        walked, segment = _walked(lane), lane.stream.segment
        threshold = lane.stream.config.endpoint.blank_threshold
        lane.observe(walked.transcript.evidence(threshold, self._turn_ends, self._unspoken))
        found = transcript_of(segment)
        if found.length < segment.frames:
            segment.search_state = found.then(walked.transcript.until(lane.used))
        self._spoken[lane.stream.slot] = walked.after

    def _best(self, stream: ActiveStream) -> Best:
        found, told = transcript_of(stream.segment), self._told[stream.slot]
        if told is None or not told.holds(stream, found):
            spelled = self._spelled(self._marks.placed(found), stream)
            best = spelled.with_stable(len(spelled.tokens))
            told = ToldBest(stream.segment, stream.boosts, found, best)
            self._told[stream.slot] = told
        return told.best

    def _spelled(self, found: Transcript, stream: ActiveStream) -> TokenHypothesis:
        return TokenHypothesis(found, self._tokenizer, stream.boosts)

    def _boosted(self, stream: ActiveStream, boosts: CompiledBoosts) -> CompiledBoosts:
        """The boosts that the stream's slot now has: none where they do not fit."""
        assert boosts.table is None or isinstance(boosts.table, BoostTable)
        try:
            self._loop.set_boost(stream.slot, boosts.table)
        except CapacityExceeded as error:
            return boosts.refused(str(error))
        return boosts


def transcript_of(segment: Segment) -> Transcript:
    """The labels found in a segment so far."""
    found = segment.search_state
    return found if isinstance(found, Transcript) else NOTHING_FOUND


def _walked(lane: Lane) -> Walked:
    assert isinstance(lane.output, Walked)
    return lane.output
