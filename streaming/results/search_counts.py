"""Counters of what searches could not do as asked: nothing is left out in silence."""

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class SearchCounts:
    """Counts from the engine's start, added up over searches.

    Eager ends of turns count as finals: what they would say is looked for as it is of these.

    Frames are counted when their segment is over; a walk over them that was done again counts once.
    overflows: frames in which a search dropped what it would have kept, for want of room (0 unless
        a capacity is set too small).
    dead_ends: frames after which no token would be active (Kaldi: no surviving tokens); they are
        left out.
    nbest_timeouts: lists of alternatives that would have taken too long: the best alone was taken.
    lattice_timeouts: finals whose alternatives would have taken too long to weigh: their words are
        as sure as the words' tokens.
    revised_prefixes: finals that change words that a partial has called stable.
    lm_finals, lm_words: finals that were ranked by language models that a stream names, and words
        of their lattices or lists. lm_searched_finals: finals whose search asked such models while
        it went on. These alone are no complaint.
    """

    overflows: int = 0
    dead_ends: int = 0
    nbest_timeouts: int = 0
    lattice_timeouts: int = 0
    revised_prefixes: int = 0
    lm_finals: int = 0
    lm_words: int = 0
    lm_searched_finals: int = 0

    def __add__(self, other: "SearchCounts") -> "SearchCounts":
        return SearchCounts(
            *(one + two for one, two in zip(astuple(self), astuple(other), strict=True))
        )
