"""The best hypothesis of a segment, spelled once for as long as no label comes."""

from __future__ import annotations

from dataclasses import dataclass

from earshot.streaming.results.hypothesis import Best
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.segment import Segment
from earshot.streaming.transducer.transcript import Transcript


@dataclass(frozen=True, eq=False)
class ToldBest:
    """The best that was told of a segment. Most chunks bring no label, short ones above all.

    found: the labels of which it was told.
    """

    segment: Segment
    boosts: object
    found: Transcript
    best: Best

    def holds(self, stream: ActiveStream, found: Transcript) -> bool:
        """Whether the stream's segment still says that."""
        same = stream.segment is self.segment and stream.boosts is self.boosts
        return same and found.tokens == self.found.tokens
