"""The cut of a segment that grew too long, between its words."""

from __future__ import annotations

from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.search_set import SearchSet
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.endpoint import Endpoint
from earshot.streaming.stream.segment_boundary import earliest_boundary, off_label

EARLY_SEARCHES = frozenset(("transducer", "transducer_beam"))
"""Searches that may find a label where its sound begins, not where it is clearest."""


class SegmentCut:
    """Leaves a segment its first words. What lies behind is heard again by the next one.

    What remained there of a word would be said twice: a word that a transducer has found ends where
    the CTC head says so.
    """

    def __init__(self, searches: SearchSet, heads: CtcNetwork) -> None:
        self._searches = searches
        self._heads = heads

    def __call__(self, stream: ActiveStream, endpoint: Endpoint) -> int:
        """Shorten the segment; return the frame where the next one begins."""
        frames = stream.segment.frames
        # A cut that failed on its way has left the segment short already.
        boundary = frames if frames < endpoint.frames else self._boundary(stream, endpoint)
        self._searches.truncate(stream, boundary)
        return boundary

    def _boundary(self, stream: ActiveStream, endpoint: Endpoint) -> int:
        boundary = self._searches.boundary(stream, endpoint)
        if stream.search not in EARLY_SEARCHES:
            return boundary
        [best] = self._searches.best([stream])
        units = self._heads.ctc_log_probs(stream.segment.memory()).argmax(dim=-1).tolist()
        frames, blank_id = stream.segment.frames, self._heads.blank_id
        earliest = earliest_boundary(endpoint, stream.settings.chunking.frame_ms)
        return off_label(boundary, earliest, frames, units, blank_id, best.hypothesis.frames)
