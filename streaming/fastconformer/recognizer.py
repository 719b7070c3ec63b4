"""NeMo's models over many streams that go on: one encoder, a transducer, CTC, or either by mode."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.engine.isolation import OfStream
from earshot.streaming.engine.model_description import ModelDescription
from earshot.streaming.engine.pulse import Beat
from earshot.streaming.events import BoostWarning
from earshot.streaming.fastconformer.encode_step import EncodeStep
from earshot.streaming.fastconformer.hearing import Hearing
from earshot.streaming.fastconformer.stream_rules import FastConformerRules
from earshot.streaming.parts.graph import GRAPH
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.results.hypothesis import Best
from earshot.streaming.results.results import first_pass_scores
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.stream.active_stream import ActiveStream, StreamSettings
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.replay import ReplayPoint
from earshot.streaming.stream.segment_end import divided_ending
from earshot.streaming.stream.stream_decoder import StreamDecoder
from earshot.streaming.stream_config import Boost, StreamConfig

T = TypeVar("T")


class FastConformerRecognizer:
    """See `Recognizer`. decoders: by the searches that streams may have.

    An endpoint ends a segment and nothing else: the encoder and the transducer's predictor go on,
    and what was decoded behind it is the next segment's.
    """

    def __init__(
        self,
        hearing: Hearing,
        encode: EncodeStep,
        decoders: Mapping[str, StreamDecoder],
        parts: ModelParts,
        settings: StreamSettings,
        model: ModelDescription,
        rules: FastConformerRules,
    ) -> None:
        self._hearing = hearing
        self._encode = encode
        self._decoders = decoders
        self._taggers = parts.taggers()
        self._partial_taggers = parts.partial_taggers()
        self.settings, self.model, self.rules = settings, model, rules
        words = parts.get(GRAPH)
        self.graph = None if words is None else words.graph
        self.device = hearing.device

    @property
    def counts(self) -> SearchCounts:
        """Counters of all decoders."""
        distinct = {id(decoder): decoder for decoder in self._decoders.values()}
        return sum((each.counts for each in distinct.values()), SearchCounts())

    def encode(self, lanes: Sequence[Lane]) -> None:
        """The encoder."""
        self._encode(lanes)

    def decode(self, lanes: Sequence[Lane]) -> None:
        """Each lane by its stream's decoder."""
        for decoder, ours in self._by_decoder(lanes, _stream_of):
            decoder.decode(ours)
        self._end(lanes)

    def decode_again(self, lanes: Sequence[Lane]) -> None:
        """Each lane by its stream's decoder, once more."""
        for decoder, ours in self._by_decoder(lanes, _stream_of):
            decoder.decode_again(ours)
        self._end(lanes)

    def finish(self, endings: Sequence[Ending], beat: Beat) -> None:
        """There is no second pass; parts that tag words have their say."""
        for ending in endings:
            ending.scored = [first_pass_scores(each) for each in ending.hypotheses]
        for step in self._taggers:
            beat()
            step(endings, beat)

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """By each stream's decoder, with the word of parts that tag partials."""
        best: dict[ActiveStream, Best] = {}
        for decoder, ours in self._by_decoder(streams, lambda stream: stream):
            best.update(zip(ours, decoder.best(ours), strict=True))
        found = [best[stream] for stream in streams]
        for step in self._partial_taggers:
            found = step(streams, found)
        return found

    def restart(self, endings: Sequence[Ending]) -> None:
        """Begin the next segments; after a flush the encoder begins anew as well."""
        for ending in endings:
            ending.leave()
        for decoder, ours in self._by_decoder(endings, _stream_of):
            decoder.restart(ours)
        self._forget([ending.stream for ending in endings if ending.boundary is None])

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """For the search that the config chooses."""
        search = self.rules.choose_search(config)
        return self._decoders[search].compile(search, boosts, config)

    def configure(
        self, stream: ActiveStream, config: StreamConfig, boosts: CompiledBoosts
    ) -> tuple[BoostWarning, ...]:
        """The stream's decoder does it; a stream keeps its decoder."""
        search = self.rules.choose_search(config)
        return self._decoders[search].configure(stream, config, search, boosts)

    def replay_point(self, stream: ActiveStream) -> ReplayPoint:
        """A copy of what encoder and decoder remember, and of the features that are heard again."""
        heard = self._hearing.memory_of(stream.slot)
        return stream.replay_point((heard, self._decoder_of(stream).memory_of(stream)))

    def resume(self, stream: ActiveStream, point: ReplayPoint) -> None:
        """Remember the same."""
        stream.resume(point, self._hearing.device)
        assert isinstance(point.memory, tuple)
        heard, decoded = point.memory
        self._hearing.recall(stream.slot, heard)
        self._decoder_of(stream).recall(stream, decoded)

    def free(self, stream: ActiveStream) -> None:
        """Leave nothing of the stream in its slot."""
        self._decoder_of(stream).free(stream)
        self._forget([stream])

    def _end(self, lanes: Sequence[Lane]) -> None:
        for lane in lanes:
            lane.ending = lane.ending or divided_ending(lane, self._decoder_of(lane.stream))

    def _forget(self, streams: Sequence[ActiveStream]) -> None:
        if streams:
            self._hearing.reset([stream.slot for stream in streams])

    def _decoder_of(self, stream: ActiveStream) -> StreamDecoder:
        return self._decoders[stream.search]

    def _by_decoder(
        self, items: Sequence[T], stream_of: Callable[[T], ActiveStream]
    ) -> Iterator[tuple[StreamDecoder, list[T]]]:
        """Lanes, endings or streams by the decoders of their streams."""
        by_id: dict[int, list[T]] = defaultdict(list)
        for item in items:
            by_id[id(self._decoder_of(stream_of(item)))].append(item)
        return ((self._decoder_of(stream_of(ours[0])), ours) for ours in by_id.values())


def _stream_of(item: OfStream) -> ActiveStream:
    return item.stream
