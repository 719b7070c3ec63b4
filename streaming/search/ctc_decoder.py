"""Streams that go on, decoded by the searches over a CTC head."""

from collections.abc import Sequence

import torch

from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.events import BoostWarning
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.ctc_output import CtcOutput, ctc_output, ctc_outputs
from earshot.streaming.search.search import padded
from earshot.streaming.search.search_set import SearchSet
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.endpoint import Endpoint
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.rest import Rest
from earshot.streaming.stream.segment_boundary import earliest_boundary, off_label
from earshot.streaming.stream_config import Boost, StreamConfig


class CtcDecoder:
    """See `StreamDecoder`. beam_size: hypotheses of a final."""

    def __init__(self, network: CtcNetwork, searches: SearchSet, beam_size: int) -> None:
        self._network = network
        self._searches = searches
        self._beam_size = beam_size

    @property
    def counts(self) -> SearchCounts:
        """Counters of all searches."""
        return self._searches.counts

    def decode(self, lanes: Sequence[Lane]) -> None:
        """Search the frames before endpoints, which CTC knows before it searches."""
        self._observe(lanes)
        self._searches.advance(lanes)

    def decode_again(self, lanes: Sequence[Lane]) -> None:
        """From the segments' frames."""
        self._observe(lanes)
        for lane in lanes:
            self._searches.rewind(lane.stream)

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """By each stream's search."""
        return self._searches.best(streams)

    def nbest(self, stream: ActiveStream, *, ended: bool) -> list[Hypothesis]:
        """By the stream's search."""
        count = max(self._beam_size, stream.config.alternatives)
        return self._searches.nbest(stream, count, ended=ended)

    def boundary(self, lane: Lane, endpoint: Endpoint) -> int:
        """The widest gap near the segment's end, and not within a label that lasts."""
        stream = lane.stream
        boundary = self._searches.boundary(stream, endpoint)
        [best] = self._searches.best([stream])
        units = self._outputs([_behind(lane, 0)])[0].posteriors.tokens
        frames, blank_id = stream.segment.frames, self._network.blank_id
        earliest = earliest_boundary(endpoint, stream.settings.chunking.frame_ms)
        return off_label(boundary, earliest, frames, units, blank_id, best.hypothesis.frames)

    def rest(self, lane: Lane, boundary: int) -> Rest | None:
        """The frames from there on; the search of the next segment begins with them."""
        encoded = _behind(lane, boundary)
        if not len(encoded):
            return None
        is_cut = boundary < lane.stream.segment.frames
        return Rest(encoded, None if is_cut else ctc_output(lane).since(lane.used))

    def truncate(self, stream: ActiveStream, frames: int) -> None:
        """Search the segment's first frames anew; words that were told as stable stay."""
        self._searches.truncate(stream, frames)

    def restart(self, endings: Sequence[Ending]) -> None:
        """Searches begin anew with each segment."""
        self._searches.restart([ending.stream for ending in endings])

    def compile(self, search: str, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """By that search."""
        return self._searches.compile(search, boosts, config)

    def configure(
        self, stream: ActiveStream, config: StreamConfig, search: str, boosts: CompiledBoosts
    ) -> tuple[BoostWarning, ...]:
        """Search the current segment anew; words that were told as stable stay."""
        return self._searches.configure(stream, config, search, boosts)

    def memory_of(self, stream: ActiveStream) -> object:
        """Nothing: searches begin anew with each segment."""
        return None

    def recall(self, stream: ActiveStream, memory: object) -> None:
        """There is nothing to remember."""

    def free(self, stream: ActiveStream) -> None:
        """Leave nothing of the stream in its slot."""
        self._searches.drop_boosts(stream)
        self._searches.restart([stream])

    def _observe(self, lanes: Sequence[Lane]) -> None:
        moving = [lane for lane in lanes if lane.cut.frames]
        new = [lane for lane in moving if lane.output is None]
        if new:
            found = self._outputs([lane.encoded for lane in new])
            for lane, output in zip(new, found, strict=True):
                lane.output = output
        for lane in moving:
            threshold = lane.stream.config.endpoint.blank_threshold
            posteriors = ctc_output(lane).posteriors
            lane.observe(posteriors.evidence(self._network.blank_id, threshold))

    def _outputs(self, encoded: Sequence[torch.Tensor]) -> list[CtcOutput]:
        frames, lengths = padded(encoded)
        log_probs = self._network.ctc_log_probs(frames).float()
        return ctc_outputs(log_probs, lengths.tolist(), self._network.blank_id)


def _behind(lane: Lane, boundary: int) -> torch.Tensor:
    """The segment's frames from there on, and those of the lane that it was not given."""
    return torch.cat((lane.stream.segment.memory()[boundary:], lane.encoded[lane.used :]))
