"""The search part of the first pass: every stream by the search that it asked for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from earshot.streaming.boosting.boosting import NO_BOOSTS, CompiledBoosts
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.results.kept_words import KeptWords
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.search import Search
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import Boost, StreamConfig


class CtcSearch:
    """All searches behind one face. A stream's search lives in its slot until its segment ends."""

    def __init__(self, searches: Mapping[str, Search]) -> None:
        self._searches = searches

    @property
    def counts(self) -> SearchCounts:
        """What searches could not do so far."""
        return sum((search.counts for search in self._searches.values()), SearchCounts())

    def advance(self, lanes: Sequence[Lane]) -> None:
        """Walk over the lanes' new frames; each segment already holds them (`Segment.frames`)."""
        by_kind = defaultdict(list)
        for lane in lanes:
            if lane.used:
                by_kind[lane.stream.search].append(lane)
        for kind, ours in by_kind.items():
            self._searches[kind].advance(ours)

    def rewind(self, stream: ActiveStream) -> None:
        """Search the segment's frames anew: they became fewer, or the boosts others."""
        encoded = stream.segment.memory() if stream.segment.frames else None
        self._searches[stream.search].rewind(stream, encoded)

    def leave(self, stream: ActiveStream) -> None:
        """Forget the stream and its boosts, which another search takes over."""
        self.configure(stream, NO_BOOSTS)
        self._searches[stream.search].rewind(stream, None)
        stream.segment.search_state = None

    def restart(self, streams: Sequence[ActiveStream]) -> None:
        """Forget the segments of these streams, which are over; boosts stay."""
        for search, ours in self._by_search(streams):
            search.restart(ours)

    def compile(self, kind: str, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """The boosts for the search of a kind; for any thread."""
        return self._searches[kind].compile(boosts, config)

    def configure(self, stream: ActiveStream, boosts: CompiledBoosts) -> None:
        """Use these boosts for a stream whose search is then restarted or rewound.

        Raises CapacityExceeded when the boosts of all streams do not fit together.
        """
        self._searches[stream.search].configure(stream, boosts)

    def keep(self, stream: ActiveStream) -> None:
        """Hold on to the words that were told to be stable: the segment will be searched anew."""
        segment = stream.segment
        if told := segment.shown[1]:
            [best] = self.best([stream])
            segment.kept = KeptWords.of(best.hypothesis, min(told, best.stable_words))

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The best hypothesis of each stream, with the words that are kept."""
        found: dict[ActiveStream, Best] = {}
        for search, ours in self._by_search(streams):
            found.update(zip(ours, search.best(ours), strict=True))
        return [stream.segment.kept.best(found[stream]) for stream in streams]

    def nbest(self, stream: ActiveStream, count: int, *, ended: bool) -> list[Hypothesis]:
        """Up to `count` hypotheses, best first; `ended` where an utterance ends, not only words."""
        found = self._searches[stream.search].nbest(stream, count, ended=ended)
        return stream.segment.kept.nbest(found)

    def _by_search(
        self, streams: Iterable[ActiveStream]
    ) -> Iterator[tuple[Search, list[ActiveStream]]]:
        by_kind = defaultdict(list)
        for stream in streams:
            by_kind[stream.search].append(stream)
        return ((self._searches[kind], ours) for kind, ours in by_kind.items())
