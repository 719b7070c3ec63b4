"""No sequence of tokens, said again and again, may earn more than it costs.

Phrases overlap: a token can complete several of them, and begin another meanwhile. What is kept of
their bonuses is paid on the arcs of the automaton (``boost.py``), so a sequence that pays for being
repeated is a cycle in it whose bonuses exceed the prices of its tokens. Pending bonuses come to
nothing along a cycle. Here a failure arc may be taken anywhere, for nothing: that makes more cycles
than the automaton has, and none that it has is missed.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from decoder_kernels.boost import BoostPhrase
from decoder_kernels.phrase_trie import ROOT, PhraseTrie

MAX_STEPS = 50_000
"""Levels of the trie that are gone through, half a second or so, before a rougher rule is taken."""

MAX_PRICE = 1e6
"""Nats of a token that nobody can say, and sums stay finite."""

_SLACK = 1e-9  # nats within which a gain is an error of rounding
_SWEEPS_PER_LOOK = 4

Values = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


def safe_phrases(
    phrases: Sequence[BoostPhrase], price: Callable[[int], float]
) -> list[BoostPhrase]:
    """The phrases, with weights lowered until nothing pays for being repeated.

    ``price``: what a token costs whoever says it, 0 or more, possibly infinite. A phrase alone may
    earn what its tokens cost. Where a sequence gains, of the phrases that are completed in it those
    that earn the largest share of their price are lowered to a common share; others are left alone.
    """
    trie = PhraseTrie(phrase.tokens for phrase in phrases)
    ends = [deque(trie.path(phrase.tokens), maxlen=1)[0] for phrase in phrases]
    own = np.zeros(len(trie))
    for phrase, end in zip(phrases, ends, strict=True):
        own[end] = max(own[end], phrase.bonus * len(phrase.tokens))
    prices = np.array([0.0, *(min(price(token), MAX_PRICE) for token in trie.tokens[1:])])
    safe = _safe(trie, own, prices)
    return [
        replace(phrase, weight=min(phrase.bonus, safe[end] / len(phrase.tokens)))
        if phrase.weight > 0
        else phrase
        for phrase, end in zip(phrases, ends, strict=True)
    ]


def _safe(trie: PhraseTrie, own: Values, prices: Values) -> Values:
    """What may be paid (S,) of the bonuses ``own`` (S,) where a token costs ``prices`` (S,)."""
    if not own.any():
        return own
    cycles = _Cycles(trie, prices)
    shares = np.divide(own, cycles.worth, out=np.zeros(len(own)), where=cycles.worth > 0)
    shares = np.minimum(shares, 1.0)
    try:
        while found := cycles.gaining(shares):
            for states in found:
                cycles.level(shares, states)
    except _OutOfSteps:
        shares = np.minimum(shares, _safe_share(trie, own))
    return shares * cycles.worth


def _safe_share(trie: PhraseTrie, own: Values) -> float:
    """The share that all phrases may earn at once, whatever they are.

    Of one length, at most as many cover a token as they have tokens.
    """
    lengths = {trie.depths[end] for end in np.flatnonzero(own)}
    return 1.0 / sum(lengths)


class _OutOfSteps(Exception):
    """The cycles would take too long to find."""


class _Cycles:
    """Those of one trie, at the prices of its tokens."""

    def __init__(self, trie: PhraseTrie, prices: Values) -> None:
        self._prices = prices
        self._parents, self._failures = np.array(trie.parents), np.array(trie.failures)
        self._steps = 0
        depths = np.array(trie.depths)
        bounds = np.searchsorted(depths, np.arange(1, depths[-1] + 2))
        self._levels = [slice(*pair) for pair in pairwise(bounds)]
        self._depths = depths
        self.worth = prices.copy()  # of all tokens up to a state
        for level in self._levels:
            self.worth[level] += self.worth[self._parents[level]]

    def completed(self, shares: Values) -> Values:
        """(S,): the bonuses of all phrases that end at each state."""
        completed = shares * self.worth
        for level in self._levels:  # a failure lies on a level above
            completed[level] += completed[self._failures[level]]
        return completed

    def gaining(self, shares: Values) -> list[Indices]:
        """Cycles that gain, apart from each other, each by the states that a token leads into.

        Longest paths from all states at once (Bellman and Ford): values rise for ever if and only
        if a cycle gains, and the ways by which they rose last then close.
        """
        profits = self.completed(shares) - self._prices
        values = np.zeros(len(profits))
        before = np.full(len(profits), -1)
        while True:
            for _ in range(_SWEEPS_PER_LOOK):
                self._count()
                descended = self._descend(values, before, profits)
                if not (self._fail(values, before) or descended):
                    return []
            if closed := _closed(before):
                return [self._entered(states, before) for states in closed]

    def level(self, shares: Values, cycle: Indices) -> None:
        """Cut the shares of what a cycle completes at one level, so that it earns what it costs."""
        ends, times = self._suffixes(cycle)
        order = np.argsort(shares[ends])
        ends, worth = ends[order], (times * self.worth[ends])[order]
        earned = np.cumsum(shares[ends] * worth)
        above = worth.sum() - np.cumsum(worth)
        price = self._prices[cycle].sum()
        cut = np.searchsorted(earned + shares[ends] * above, price)
        if cut < len(ends):
            below = earned[cut - 1] if cut else 0.0
            shares[ends[cut:]] = (price - below) / (above[cut] + worth[cut])

    def _suffixes(self, states: Indices) -> tuple[Indices, Indices]:
        """States and all their suffixes but the root, and how often each is among them."""
        found: list[Indices] = []
        while len(states := states[states != ROOT]):
            found.append(states)
            states = self._failures[states]
        return np.unique(np.concatenate(found), return_counts=True)

    def _count(self) -> None:
        self._steps += len(self._levels)
        if self._steps > MAX_STEPS:
            raise _OutOfSteps

    def _descend(self, values: Values, before: Indices, profits: Values) -> bool:
        """Every path down from every state; whether one is worth more than was known."""
        risen = False
        for level in self._levels:
            reached = values[self._parents[level]] + profits[level]
            better = reached > values[level] + _SLACK
            values[level][better] = reached[better]
            before[level][better] = self._parents[level][better]
            risen |= bool(better.any())
        return risen

    def _fail(self, values: Values, before: Indices) -> bool:
        """One failure arc from every state; whether one is worth more than was known."""
        reached = np.full(len(values), -np.inf)
        np.maximum.at(reached, self._failures[1:], values[1:])
        better = reached > values + _SLACK
        ways = better[self._failures] & (values == reached[self._failures])
        before[self._failures[ways]] = np.flatnonzero(ways)
        values[better] = reached[better]
        return bool(better.any())

    def _entered(self, states: Indices, before: Indices) -> Indices:
        """Those of a cycle that an arc with a token leads into; failure arcs lead up."""
        return states[self._depths[states] > self._depths[before[states]]]


def _closed(before: Indices) -> list[Indices]:
    """The cycles among ways back; -1 is no way."""
    size = len(before)
    ways = np.append(np.where(before < 0, size, before), size)
    far = ways
    for _ in range(size.bit_length()):
        far = far[far]
    left = set(far[far != size].tolist())
    cycles = []
    while left:
        state = min(left)
        cycle = [state]
        while (state := int(before[state])) != cycle[0]:
            cycle.append(state)
        left.difference_update(cycle)
        cycles.append(np.array(cycle))
    return cycles
