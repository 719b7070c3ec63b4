"""Where an utterance that will not pause is cut: at the widest gap between words near its end."""

import itertools
from collections.abc import Sequence

from earshot.streaming.results.hypothesis import Hypothesis, SpokenWord
from earshot.streaming.stream.endpoint import Endpoint
from earshot.streaming.stream_config import MIN_SILENCE_MS

BOUNDARY_WINDOW_MS = 5000
"""How far back from an utterance's end a boundary may lie; what is behind it is decoded twice."""


def word_boundary(endpoint: Endpoint, best: Hypothesis, frame_ms: float) -> int:
    """The frame that splits the best hypothesis at the widest gap between its last words.

    Among equal gaps the last one wins. The silence after the last word counts too where it is long
    enough to be one. A segment without a gap (one endless word) is cut where it ends. The boundary
    lies in the segment's second half, so every cut makes progress.
    """
    window = int(min(BOUNDARY_WINDOW_MS / frame_ms, endpoint.frames / 2))
    earliest = endpoint.frames - window
    gaps = _word_gaps(best.words, best.frames)
    if endpoint.blank_run * frame_ms >= MIN_SILENCE_MS:
        gaps.append((endpoint.frames - endpoint.blank_run, endpoint.frames))
    boundaries = [
        (right - left, (left + right) // 2) for left, right in gaps if left + right >= 2 * earliest
    ]
    return max(boundaries)[1] if boundaries else endpoint.frames


def _word_gaps(words: Sequence[SpokenWord], frames: Sequence[int]) -> list[tuple[int, int]]:
    """From the frame after each word's last token to the frame of the next word's first one."""
    return [
        (frames[word.stop - 1] + 1, frames[after.first])
        for word, after in itertools.pairwise(words)
    ]
