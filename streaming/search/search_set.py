"""All searches of one recogniser as one: every stream by the search that it asked for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from torch import Tensor

from earshot.decoder_kernels.errors import CapacityExceeded
from earshot.streaming.boosting.boosting import NO_BOOSTS, CompiledBoosts
from earshot.streaming.events import BoostWarning
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.results.kept_words import KeptWords
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.search import Search
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.endpoint import Endpoint
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.segment_boundary import word_boundary
from earshot.streaming.stream_config import Boost, StreamConfig


class SearchSet:
    """Searches by the names that `ActiveStream.search` has.

    A stream's search lives in its slot until its segment ends.
    """

    def __init__(self, searches: Mapping[str, Search]) -> None:
        self._searches = searches

    @property
    def counts(self) -> SearchCounts:
        """Counters of what searches could not do so far."""
        return sum((search.counts for search in self._searches.values()), SearchCounts())

    def advance(self, lanes: Sequence[Lane]) -> None:
        """Walk over the lanes' new frames; each segment already holds them (`Segment.frames`)."""
        by_name = defaultdict(list)
        for lane in lanes:
            if lane.used:
                by_name[lane.stream.search].append(lane)
        for name, ours in by_name.items():
            self._searches[name].advance(ours)

    def rewind(self, stream: ActiveStream) -> None:
        """Search the segment's frames anew: they became fewer, or the boosts others."""
        encoded = stream.segment.memory() if stream.segment.frames else None
        self._searches[stream.search].rewind(stream, encoded)

    def restart(self, streams: Sequence[ActiveStream]) -> None:
        """Forget the segments of these streams, which are over; boosts stay."""
        for search, ours in self._by_search(streams):
            search.restart(ours)

    def drop_boosts(self, stream: ActiveStream) -> None:
        """Drop the boosts of a stream that is over, or goes to another search."""
        self._searches[stream.search].configure(stream, NO_BOOSTS)

    def compile(self, name: str, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """The boosts for the search of a name; for any thread."""
        return self._searches[name].compile(boosts, config)

    def configure(
        self, stream: ActiveStream, config: StreamConfig, name: str, boosts: CompiledBoosts
    ) -> tuple[BoostWarning, ...]:
        """Decode the segment anew under the new config; stable words are kept.

        Returns the phrases that stay unboosted, all of them where the arena is full, and those
        whose weight counts as less.
        """
        self._keep(stream)
        if name != stream.search:
            self._leave(stream)
        stream.config, stream.search = config, name
        return self._boost(stream, boosts)

    def boundary(self, stream: ActiveStream, endpoint: Endpoint) -> int:
        """The frame between words at which a segment that grew too long may end."""
        [best] = self.best([stream])
        return word_boundary(endpoint, best.hypothesis, stream.settings.chunking.frame_ms)

    def truncate(self, stream: ActiveStream, frames: int) -> None:
        """Search the segment's first frames anew; stable words are kept."""
        self._keep(stream)
        stream.segment.truncate(frames)
        self.rewind(stream)

    def hear_again(self, stream: ActiveStream, encoded: Tensor) -> None:
        """Search the segment anew in other frames `(T, D)` of the same sound; stable words stay."""
        self._keep(stream)
        stream.segment.encoded = [encoded]
        self.rewind(stream)

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The best hypothesis of each stream, with the words that are kept."""
        found: dict[ActiveStream, Best] = {}
        for search, ours in self._by_search(streams):
            found.update(zip(ours, search.best(ours), strict=True))
        return [stream.segment.kept.best(found[stream]) for stream in streams]

    def nbest(self, stream: ActiveStream, count: int, *, ended: bool) -> list[Hypothesis]:
        """Up to `count` hypotheses, best first; `ended` where an utterance ends, not only words."""
        found = self._searches[stream.search].nbest(stream, count, ended=ended)
        return stream.segment.kept.nbest(found)[:count]

    def _keep(self, stream: ActiveStream) -> None:
        """Hold on to the words that were told to be stable: the segment will be searched anew."""
        segment = stream.segment
        if told := segment.shown[1]:
            [best] = self.best([stream])
            segment.kept = KeptWords.of(best.hypothesis, min(told, best.stable_words))

    def _leave(self, stream: ActiveStream) -> None:
        """Forget the stream, which another search takes over."""
        self.drop_boosts(stream)
        self._searches[stream.search].rewind(stream, None)
        stream.segment.search_state = None

    def _boost(self, stream: ActiveStream, boosts: CompiledBoosts) -> tuple[BoostWarning, ...]:
        search = self._searches[stream.search]
        try:
            search.configure(stream, boosts)
        except CapacityExceeded as error:
            boosts = boosts.refused(str(error))
            search.configure(stream, boosts)
        stream.boosts = boosts
        self.rewind(stream)
        return boosts.told

    def _by_search(
        self, streams: Iterable[ActiveStream]
    ) -> Iterator[tuple[Search, list[ActiveStream]]]:
        by_name = defaultdict(list)
        for stream in streams:
            by_name[stream.search].append(stream)
        return ((self._searches[name], ours) for name, ours in by_name.items())
