"""Pauses as the tagger is told them: how long it is quiet after a word, in classes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

UNKNOWN = 0
EDGES_S = (0.08, 0.2, 0.4, 0.8)
"""Between the classes 1 to 5."""
END = 6
"""After the last word of an utterance: the speaker has stopped."""
NEWEST = 7
"""After the last word so far: nobody knows yet."""


def pause_class(seconds: float) -> int:
    """The class of a pause between two words."""
    return 1 + bisect_right(EDGES_S, seconds)


def pause_classes(times: Sequence[tuple[float, float]], last: int) -> list[int]:
    """The class after each word by the words' starts and ends; `last` is that of the last one."""
    if not times:
        return []
    return [*(pause_class(after[0] - before[1]) for before, after in pairwise(times)), last]
