"""A part's addition to the scores of a segment's candidates, and a step that ranks by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from earshot.streaming.engine.pulse import Beat, unheard

if TYPE_CHECKING:  # without torch: commands read the table of parts
    from earshot.streaming.results.results import Scored
    from earshot.streaming.stream.active_stream import ActiveStream
    from earshot.streaming.stream.lane import Ending

REACH = 6.0
"""In nats of the second pass. Who is further behind is not made up for, and costs time."""

MOST_ASKED = 20
"""Candidates of one segment, however many are within reach: a tree takes its size squared."""


class CandidateWord(NamedTuple):
    """A word as it is said; boosted: whether a request has brought it along."""

    text: str
    boosted: bool


@dataclass(frozen=True)
class Candidates:
    """Texts of one segment of a stream, of which one may have been said."""

    stream: ActiveStream
    texts: Sequence[Sequence[CandidateWord]]


class Rescorer(Protocol):
    """One part's word on candidates. Engine thread only."""

    def __call__(self, asked: Sequence[Candidates]) -> list[list[float]]:
        """Nats that each text's score gains; zeros for a segment of which the part says nothing."""


def gains(rescorers: Sequence[Rescorer], asked: Sequence[Candidates]) -> list[list[float]]:
    """The sum of what all parts add to each text's score."""
    found = [[0.0] * len(each.texts) for each in asked]
    for rescorer in rescorers:
        for own, added in zip(found, rescorer(asked), strict=True):
            own[:] = (one + other for one, other in zip(own, added, strict=True))
    return found


class RankedAnew:
    """The step after a second pass that knows nothing of the parts that rescore."""

    def __init__(self, rescorers: Sequence[Rescorer]) -> None:
        self._rescorers = rescorers

    def __call__(self, endings: Sequence[Ending], beat: Beat = unheard) -> None:
        """Rank those `scored` again that are within reach of the best; see `EndingStep`."""
        asked = [_candidates(ending) for ending in endings]
        for ending, added in zip(endings, gains(self._rescorers, asked), strict=True):
            if any(added):
                ending.scored = _ranked(ending.scored, added)


def _candidates(ending: Ending) -> Candidates:
    scored = ending.scored[:MOST_ASKED]
    near = [each for each in scored if scored[0].score - each.score <= REACH]
    texts = [
        [CandidateWord(word.text, word.is_named) for word in each.hypothesis.words] for each in near
    ]
    return Candidates(ending.stream, texts)


def _ranked(scored: Sequence[Scored], added: Sequence[float]) -> list[Scored]:
    """Best first; those that were not asked about stay behind the others, at the least score."""
    asked, rest = scored[: len(added)], scored[len(added) :]
    found = [
        replace(each, score=each.score + gain) for each, gain in zip(asked, added, strict=True)
    ]
    least = min(each.score for each in found)
    behind = [replace(each, score=min(each.score, least)) for each in rest]
    return [*sorted(found, key=lambda each: -each.score), *behind]
