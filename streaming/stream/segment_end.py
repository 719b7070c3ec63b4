"""The end of a segment that its decoder has seen, in any model family."""

from collections.abc import Callable, Sequence
from typing import Protocol

from earshot.streaming.events import FinalCause
from earshot.streaming.results.hypothesis import Hypothesis
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.endpoint import Endpoint, pause_boundary
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.rest import Division, Rest


def ending_of(
    lane: Lane,
    nbest: Callable[[bool], Sequence[Hypothesis]],
    between_words: Callable[[Endpoint], int],
    truncate: Callable[[int], None],
) -> Ending | None:
    """The lane's segment with its n-best, if it ends in this step; after `Lane.observe`.

    nbest: the hypotheses, best first, of an utterance that ends here, or (False) only of words.
    between_words: where a segment that grew too long is to be cut. truncate: leaves it so many
    frames; where that fails it may be done again, and the place stays.
    """
    stream, endpoint = lane.stream, lane.endpoint
    if endpoint is None:
        return _end_of_flush(lane, nbest)
    if endpoint.rule != "max_utterance":
        boundary = pause_boundary(endpoint, stream.settings.chunking.frame_ms)
        hypotheses = list(nbest(True))
        return Ending(stream, "endpoint", boundary, hypotheses, pause_frames=endpoint.blank_run)
    lane.division = lane.division or Division(between_words(endpoint))
    boundary = lane.division.boundary
    if boundary < stream.segment.frames:
        truncate(boundary)
    return Ending(stream, "max_utterance", boundary, list(nbest(False)))


class Dividing(Protocol):
    """The decoder of streams that go on, as it divides what it has found between two segments."""

    def nbest(self, stream: ActiveStream, *, ended: bool) -> list[Hypothesis]:
        """See `ending_of`."""

    def boundary(self, lane: Lane, endpoint: Endpoint) -> int:
        """The frame between words at which a segment that grew too long is to be divided."""

    def rest(self, lane: Lane, boundary: int) -> Rest | None:
        """The segment's frames from `boundary` on, and the lane's that were not used, if any."""

    def truncate(self, stream: ActiveStream, frames: int) -> None:
        """Leave the segment its first `frames` frames."""


def divided_ending(lane: Lane, decoder: Dividing) -> Ending | None:
    """The ending of a stream that goes on, see `ending_of`: what lies behind is the next's rest."""
    stream, endpoint = lane.stream, lane.endpoint
    if endpoint is None:
        return _end_of_flush(lane, lambda ended: decoder.nbest(stream, ended=ended))
    ended = endpoint.rule != "max_utterance"
    if lane.division is None:
        boundary = endpoint.frames if ended else decoder.boundary(lane, endpoint)
        lane.division = Division(boundary, decoder.rest(lane, boundary))
    boundary, rest = lane.division.boundary, lane.division.rest
    if boundary < stream.segment.frames:
        decoder.truncate(stream, boundary)
    hypotheses = decoder.nbest(stream, ended=ended)
    cause: FinalCause = "endpoint" if ended else "max_utterance"
    pause_frames = endpoint.blank_run if ended else 0
    return Ending(stream, cause, boundary, hypotheses, rest=rest, pause_frames=pause_frames)


def _end_of_flush(lane: Lane, nbest: Callable[[bool], Sequence[Hypothesis]]) -> Ending | None:
    stream = lane.stream
    if stream.flush is None or not lane.cut.last:
        return None
    return Ending(stream, stream.flush.cause, None, list(nbest(True)))
