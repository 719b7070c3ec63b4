"""What a family whose streams go on asks of a way to decode: CTC's searches, or a transducer."""

from collections.abc import Sequence
from typing import Protocol

from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.events import BoostWarning
from earshot.streaming.results.hypothesis import Best
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.segment_end import Dividing
from earshot.streaming.stream_config import Boost, StreamConfig


class StreamDecoder(Dividing, Protocol):
    """Decodes encoded frames of the streams whose search is one of its own; see `Recognizer`."""

    @property
    def counts(self) -> SearchCounts:
        """Counters of what it could not do so far."""

    def decode(self, lanes: Sequence[Lane]) -> None:
        """Walk over the lanes' frames, and observe them."""

    def decode_again(self, lanes: Sequence[Lane]) -> None:
        """Decode after `decode` has failed somewhere on the way."""

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """What each segment says so far."""

    def restart(self, endings: Sequence[Ending]) -> None:
        """Forget the segments of these endings, which the streams have left."""

    def compile(self, search: str, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """The boosts of a stream with this search and config; for any thread."""

    def configure(
        self, stream: ActiveStream, config: StreamConfig, search: str, boosts: CompiledBoosts
    ) -> tuple[BoostWarning, ...]:
        """Decode the stream's segment so; return what goes without its boost."""

    def memory_of(self, stream: ActiveStream) -> object:
        """A copy of what is remembered of the segments before this one, which has just begun."""

    def recall(self, stream: ActiveStream, memory: object) -> None:
        """Remember that."""

    def free(self, stream: ActiveStream) -> None:
        """Leave nothing of the stream in its slot."""
