"""Where a segment that grew too long is cut: between its words."""

from __future__ import annotations

from collections.abc import Collection

from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.search_set import SearchSet
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.endpoint import Endpoint
from earshot.streaming.stream.segment_boundary import (
    behind_late_label,
    earliest_boundary,
    off_label,
)


class SegmentCut:
    """The cut between two words: half of one would be heard again by the next segment.

    early: searches that find a label where its sound begins, not where it is clearest. What such a
    one has found ends where the CTC head says so.
    """

    def __init__(self, searches: SearchSet, heads: CtcNetwork, early: Collection[str]) -> None:
        self._searches = searches
        self._heads = heads
        self._early = early

    def place(self, stream: ActiveStream, endpoint: Endpoint) -> int:
        """The frame where the next segment is to begin."""
        boundary = self._searches.boundary(stream, endpoint)
        if stream.search in self._early:
            return self._off_label(stream, endpoint, boundary)
        return boundary

    def _off_label(self, stream: ActiveStream, endpoint: Endpoint, boundary: int) -> int:
        [best] = self._searches.best([stream])
        units = self._heads.ctc_log_probs(stream.segment.memory()).argmax(dim=-1).tolist()
        frames, blank_id = stream.segment.frames, self._heads.blank_id
        found = best.hypothesis
        boundary = behind_late_label(boundary, units, found.tokens, found.frames)
        earliest = earliest_boundary(endpoint, stream.settings.chunking.frame_ms)
        return off_label(boundary, earliest, frames, units, blank_id, found.frames)
