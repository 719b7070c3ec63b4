"""The end of a segment that its decoder has seen, in any model family."""

from collections.abc import Callable, Sequence

from earshot.streaming.results.hypothesis import Hypothesis
from earshot.streaming.stream.endpoint import Endpoint, pause_boundary
from earshot.streaming.stream.lane import Ending, Lane


def ending_of(
    lane: Lane,
    nbest: Callable[[bool], Sequence[Hypothesis]],
    cut_between_words: Callable[[Endpoint], int],
) -> Ending | None:
    """The lane's segment with its n-best, if it ends in this step; after `Lane.observe`.

    nbest: the hypotheses, best first, of an utterance that ends here, or (False) only of words.
    cut_between_words: shortens a segment that grew too long, and returns where the next one starts.
    """
    stream, endpoint = lane.stream, lane.endpoint
    if endpoint is None:
        if stream.flush is None or not lane.cut.last:
            return None
        return Ending(stream, stream.flush.cause, None, list(nbest(True)))
    if endpoint.rule != "max_utterance":
        boundary = pause_boundary(endpoint, stream.settings.chunking.frame_ms)
        return Ending(stream, "endpoint", boundary, list(nbest(True)))
    boundary = cut_between_words(endpoint)
    return Ending(stream, "max_utterance", boundary, list(nbest(False)))
