"""Where an utterance that will not pause is cut: at the widest gap between words near its end."""

import bisect
import itertools
from collections.abc import Collection, Sequence

from earshot.streaming.results.hypothesis import Hypothesis
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
    earliest = earliest_boundary(endpoint, frame_ms)
    gaps = _word_gaps(best)
    if endpoint.blank_run * frame_ms >= MIN_SILENCE_MS:
        gaps.append((endpoint.frames - endpoint.blank_run, endpoint.frames))
    boundaries = [
        (right - left, (left + right) // 2) for left, right in gaps if left + right >= 2 * earliest
    ]
    return max(boundaries)[1] if boundaries else endpoint.frames


def earliest_boundary(endpoint: Endpoint, frame_ms: float) -> int:
    """The first frame at which a segment may be cut: what lies behind it is still there."""
    return endpoint.frames - int(min(BOUNDARY_WINDOW_MS / frame_ms, endpoint.frames / 2))


def off_label(
    boundary: int,
    earliest: int,
    frames: int,
    units: Sequence[int],
    blank_id: int,
    spikes: Collection[int],
) -> int:
    """The boundary, moved to an end of the label that lasts over it: else both sides would say it.

    earliest: see `earliest_boundary`; a label that begins before it and does not end is divided.
    units: the likeliest of each of the segment's `frames`, and of those behind it that are known;
    of CTC, which says a label that lasts once. spikes: the frames that emitted labels. One that has
    spiked before the boundary stays on the left where it ends within the segment.
    """
    if boundary == len(units) or units[boundary] == blank_id:
        return boundary
    first, stop = _lasting(boundary, units)
    is_left = any(first <= frame < boundary for frame in spikes)
    if is_left and stop <= frames and stop < len(units):
        return stop
    return first if first >= earliest else boundary


def behind_late_label(
    boundary: int, units: Sequence[int], tokens: Sequence[int], frames: Sequence[int]
) -> int:
    """The boundary, moved behind the label before it where CTC hears that only from there on.

    tokens, frames: labels of a search that may find one before CTC does, none of them twice. units:
    see `off_label`, of the segment. What CTC hears counts as the label's where it is the same one,
    the first since the label before it, and over before the next: of two that were said, each has
    its own. The boundary stays between the same labels.
    """
    count = bisect.bisect_left(frames, boundary)
    if not count:
        return boundary
    last, before = tokens[count - 1], frames[count - 2] if count > 1 else -1
    after = frames[count] if count < len(frames) else len(units)
    heard = (at for at in range(before + 1, after) if units[at] == last)
    first = next(heard, None)
    if first is None or first < frames[count - 1]:
        return boundary
    stop = _lasting(first, units)[1]
    return stop if boundary < stop <= after and stop < len(units) else boundary


def _lasting(boundary: int, units: Sequence[int]) -> tuple[int, int]:
    """From where to before where the frames around the boundary have the unit behind it."""
    same = units[boundary]
    before = itertools.takewhile(same.__eq__, reversed(units[:boundary]))
    behind = itertools.takewhile(same.__eq__, units[boundary:])
    return boundary - sum(1 for _ in before), boundary + sum(1 for _ in behind)


def _word_gaps(best: Hypothesis) -> list[tuple[int, int]]:
    """From where each word ends to the frame of the next word's first token.

    A word lasts at least as long as the frame of its last token. Between words that share a frame
    there is no gap: no cut gives one to each side. Nor is there one within a member of a class,
    which neither side would hear.
    """
    gaps = []
    for word, after in itertools.pairwise(best.words):
        if after.goes_on:
            continue
        right = best.frames[after.first]
        left = best.frames[word.stop - 1] + 1
        if best.ends is not None:
            left = max(left, min(best.ends[word.stop - 1], right))
        if left <= right:
            gaps.append((left, right))
    return gaps
