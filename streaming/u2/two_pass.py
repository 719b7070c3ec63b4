"""What one engine decodes with: the network, the searches and every slot's state."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.errors import NotStreamable
from earshot.models.features.feature_kinds import build_features
from earshot.models.u2.ctc_heads import ctc_heads
from earshot.models.u2.u2 import U2Model
from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.boosting.limited_boosts import most_earned
from earshot.streaming.engine.pulse import Beat
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import BoostWarning
from earshot.streaming.parts.graph import GRAPH
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.parts.part import EndingStep
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.ctc_output import ctc_output
from earshot.streaming.search.ctc_searches import build_searches
from earshot.streaming.search.search_set import SearchSet
from earshot.streaming.stream.active_stream import ActiveStream, StreamSettings
from earshot.streaming.stream.chunking import Chunking
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.replay import ReplayPoint
from earshot.streaming.stream.segment_end import ending_of
from earshot.streaming.stream_config import Boost, StreamConfig
from earshot.streaming.transducer.segments.segment_searches import segment_searches
from earshot.streaming.turns.turn_step import turn_step
from earshot.streaming.u2.encode import EncodeStep
from earshot.streaming.u2.engine_precision import engine_precision
from earshot.streaming.u2.model_description import describe_model
from earshot.streaming.u2.pass_weights import engine_weights
from earshot.streaming.u2.second_pass_choice import second_pass_steps
from earshot.streaming.u2.segment_cut import SegmentCut
from earshot.streaming.u2.stream_rules import U2Rules


class TwoPass:
    """U2's two passes over many streams; see `Recognizer`.

    parts: of the model; a decoding graph among them is searched. Raises ModelError for another
    family's model, NotStreamable for one that was not trained in chunks, UnusableGraph for a graph
    of other units, KernelError where a search cannot be built, InvalidEngineConfig for weights of
    no scorer, for a precision that the model's networks do not have here, and for options of a
    transducer's head that is not there.
    """

    def __init__(self, loaded: LoadedModel, config: EngineConfig, parts: ModelParts) -> None:
        words = parts.get(GRAPH)
        self.graph = None if words is None else words.graph
        model = u2_of(loaded)
        if not model.config.encoder.streamable:
            raise NotStreamable(f"{loaded.name} was trained on whole utterances, not on chunks")
        device = next(model.parameters()).device
        self.settings = stream_settings(model, config)
        self.device = device
        frames = cache_frames(model, config, self.settings)
        precision = engine_precision(model, config.precision)
        heads = ctc_heads(model, precision)
        self._slots = model.encoder.initial_state(config.max_streams + 1, frames, device)
        searches = build_searches(
            heads,
            loaded.tokenizer,
            words,
            config,
            vocab_size=model.config.vocab_size,
            max_segment_frames=self.settings.max_segment_frames,
            device=device,
        )
        spoken = segment_searches(model.transducer, loaded.tokenizer, config, parts)
        self._search = SearchSet({**searches, **spoken})
        self._cut = SegmentCut(self._search, heads, early=spoken)
        self._blank_id = model.blank_id
        weights = engine_weights(model.config.decoding, config.weights)
        self._second_pass: list[EndingStep] = [
            *second_pass_steps(loaded, heads, config.beam_size, weights, parts, precision),
            *parts.taggers(),
        ]
        # The last that wants the encoder's weights: it takes them from a model that is given up.
        self._encode = EncodeStep(model, heads, self._slots, self.settings, precision)
        self._partial_steps = parts.partial_taggers()
        self._turns = turn_step(parts, model.encoder.output_size)
        graph_search = None if words is None else config.graph_search
        description = describe_model(loaded, self.settings, parts, precision)
        self.model = replace(
            description,
            most_earned=most_earned(graph_search),
            detects_turns=self._turns is not None,
        )
        self._beam_size = config.beam_size
        self.rules = U2Rules(
            description.modes, graph_search, weights, parts.names, description.chunks_ms
        )

    @property
    def counts(self) -> SearchCounts:
        """Counters of all searches."""
        return self._search.counts

    def encode(self, lanes: Sequence[Lane]) -> None:
        """The encoder and the CTC head."""
        self._encode(lanes)

    def decode(self, lanes: Sequence[Lane]) -> None:
        """Apply the endpoint rules, search the frames before them, and note which segments end."""
        for lane in lanes:
            self._observe(lane)
        self._search.advance(lanes)
        self._end(lanes)

    def decode_again(self, lanes: Sequence[Lane]) -> None:
        """Decode again, after `decode` has failed somewhere on the way."""
        for lane in lanes:
            self._observe(lane)
            self._search.rewind(lane.stream)
        self._end(lanes)

    def finish(self, endings: Sequence[Ending], beat: Beat) -> None:
        """The attention decoders' word, then that of each part that ranks, or changes words."""
        for step in self._second_pass:
            beat()
            step(endings, beat)

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The best hypothesis of each stream's search, with the word of parts that tag partials."""
        found = self._search.best(streams)
        for step in self._partial_steps:
            found = step(streams, found)
        return found

    def restart(self, endings: Sequence[Ending]) -> None:
        """Reset the state of segments that are over, and begin the next ones at their boundaries.

        Where it has failed it may be done again.
        """
        for ending in endings:
            ending.leave()
        self._reset([ending.stream for ending in endings])

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """For the search that the config chooses."""
        return self._search.compile(self.rules.choose_search(config), boosts, config)

    def configure(
        self, stream: ActiveStream, config: StreamConfig, boosts: CompiledBoosts
    ) -> tuple[BoostWarning, ...]:
        """Search the current segment anew; words that were told as stable stay."""
        return self._search.configure(stream, config, self.rules.choose_search(config), boosts)

    def replay_point(self, stream: ActiveStream) -> ReplayPoint:
        """The segment's seam: nothing before it is remembered."""
        return stream.replay_point()

    def resume(self, stream: ActiveStream, point: ReplayPoint) -> None:
        """Hear from the seam on."""
        stream.resume(point)

    def free(self, stream: ActiveStream) -> None:
        """Leave nothing of the stream in its slot."""
        self._search.drop_boosts(stream)
        self._reset([stream])

    def _reset(self, streams: Sequence[ActiveStream]) -> None:
        slots = torch.tensor([stream.slot for stream in streams], device=self.device)
        self._slots.reset(slots)
        self._search.restart(streams)

    def _observe(self, lane: Lane) -> None:
        if lane.cut.frames:
            threshold = lane.stream.config.endpoint.blank_threshold
            lane.observe(ctc_output(lane).posteriors.evidence(self._blank_id, threshold))

    def _end(self, lanes: Sequence[Lane]) -> None:
        if self._turns is not None:
            self._turns(lanes, self._search.best)
        for lane in lanes:
            lane.ending = lane.ending or self._ending(lane)
            if lane.ending is None and lane.stream.segment.ends_eagerly:
                lane.eager = lane.eager or self._eager_ending(lane.stream)

    def _ending(self, lane: Lane) -> Ending | None:
        stream = lane.stream
        return ending_of(
            lane,
            lambda ended: self._nbest(stream, ended=ended),
            lambda endpoint: self._cut.place(stream, endpoint),
            lambda frames: self._search.truncate(stream, frames),
        )

    def _eager_ending(self, stream: ActiveStream) -> Ending:
        """The ending of a segment that goes on; it is not heard again as a whole for that."""
        pause_frames = stream.segment.detector.blank_run
        hypotheses = self._listed(stream, ended=True)
        return Ending(stream, "endpoint", None, hypotheses, pause_frames=pause_frames)

    def _nbest(self, stream: ActiveStream, *, ended: bool) -> list[Hypothesis]:
        if stream.heard_whole and stream.segment.frames:
            self._search.hear_again(stream, self._encode.whole(stream))
        return self._listed(stream, ended=ended)

    def _listed(self, stream: ActiveStream, *, ended: bool) -> list[Hypothesis]:
        count = max(self._beam_size, stream.config.alternatives)
        return self._search.nbest(stream, count, ended=ended)


def stream_settings(model: U2Model, config: EngineConfig) -> StreamSettings:
    """What the model and the engine's config mean for every stream."""
    features, decoding = model.config.features, model.config.decoding
    extractor = build_features(features)
    chunk_size = config.chunk_size or (decoding.chunk_size if decoding.chunk_size > 0 else 16)
    chunking = Chunking(
        chunk_size=chunk_size,
        rate=model.encoder.subsampling_rate,
        right_context=model.encoder.right_context,
        feature_ms=features.frame_shift_ms,
    )
    others = [size for size in decoding.chunk_sizes if size > 0]
    return StreamSettings(
        features=extractor,
        chunking=chunking,
        sample_rate_hz=features.sample_rate_hz,
        max_utterance_ms=config.max_utterance_ms,
        flush_padding_ms=config.flush_padding_ms,
        lead_in_ms=decoding.lead_in_ms,
        flush_frame=extractor.silence if decoding.flush_with_silence else None,
        chunkings=tuple(replace(chunking, chunk_size=size) for size in others),
        hears_whole=-1 in decoding.chunk_sizes,
        ends_steps_in_pauses=True,
    )


def cache_frames(model: U2Model, config: EngineConfig, settings: StreamSettings) -> int:
    """Encoder frames of left context each slot keeps: so many chunks, or a whole segment."""
    left_chunks = config.num_left_chunks
    if left_chunks is None:
        left_chunks = model.config.decoding.num_left_chunks
    if left_chunks < 0:
        return settings.max_segment_frames
    return min(left_chunks * settings.chunking.chunk_size, settings.max_segment_frames)
