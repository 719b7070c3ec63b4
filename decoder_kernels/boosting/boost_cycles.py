"""No sequence of tokens, said again and again, may earn more than it costs.

Phrases overlap: a token can complete several of them, and begin another meanwhile. What is kept of
their bonuses is paid on the arcs of the automaton (``boost.py``), so a sequence that pays for being
repeated is a cycle in it whose bonuses exceed the prices of its tokens. Pending bonuses come to
nothing along a cycle. Here a failure arc may be taken anywhere, for nothing: that makes more cycles
than the automaton has, and none that it has is missed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.boosting.boost import BoostPhrase
from earshot.decoder_kernels.boosting.phrase_trie import ROOT, PhraseTrie

MAX_STEPS = 150_000
"""Levels of the trie gone through, and cycles lowered, before a rougher rule is taken: twice what a
thousand phrases of text take, a second or two."""

MAX_PRICE = 1e6
"""Nats of a token that nobody can say, and sums stay finite."""

_SLACK = 1e-9  # nats within which a gain is an error of rounding
_SWEEPS_PER_LOOK = 4  # looking costs about as much as a sweep

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
    ends = [trie.end(phrase.tokens) for phrase in phrases]
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
    """The payable part (S,) of the bonuses ``own`` (S,) where a token costs ``prices`` (S,)."""
    if not own.any():
        return own
    cycles = _Cycles(trie, own > 0, prices)
    shares = ((own > 0) & (cycles.worth > 0)).astype(np.float64)
    np.divide(own, cycles.worth, out=shares, where=own < cycles.worth)
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
    """Cycles of one trie, at the prices of its tokens."""

    def __init__(self, trie: PhraseTrie, ends: npt.NDArray[np.bool_], prices: Values) -> None:
        self._prices, self._ends = prices, ends
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
        """Cycles that gain, if there are any, those first that exceed their price most.

        Each by the states that a token leads into. Longest paths from the root (Bellman and Ford):
        a state that is worth something when it fails to the root ends a cycle that gains. Values
        rise for ever if and only if a cycle beside the root gains, and the ways by which they rose
        last then close.
        """
        profits = self.completed(shares) - self._prices
        values = np.full(len(profits), -np.inf)
        values[ROOT] = 0.0
        before = np.full(len(profits), ROOT)
        risen = True
        closed: list[Indices] = []
        while risen and not closed:
            for _ in range(_SWEEPS_PER_LOOK):
                self._count(len(self._levels))
                descended = self._descend(values, before, profits)
                risen = self._fail(values, before) or descended
            closed = _closed(before)
        found = closed or self._through_the_root(values, before)
        self._count(len(found))
        cycles = [self._entered(states, before) for states in found]
        return sorted(cycles, key=lambda states: -self._excess(states, profits))

    def _through_the_root(self, values: Values, before: Indices) -> list[Indices]:
        """The ways from the root to each end of a phrase where something is left."""
        gain = (values > _SLACK) & self._ends
        return [_way(int(end), before) for end in np.flatnonzero(gain)]

    def _excess(self, states: Indices, profits: Values) -> float:
        """What a cycle gains, as a share of its price."""
        price = float(self._prices[states].sum())
        return float(profits[states].sum()) / price if price else np.inf

    def level(self, shares: Values, cycle: Indices) -> None:
        """Cut the shares of what a cycle completes at one level, so that it earns what it costs."""
        ends, times = self._suffixes(cycle)
        order = np.argsort(shares[ends], kind="stable")
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

    def _count(self, steps: int) -> None:
        self._steps += steps
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
        """One failure arc from every state, but to the root; whether one is worth more."""
        reached = np.full(len(values), -np.inf)
        np.maximum.at(reached, self._failures[1:], values[1:])
        better = reached > values + _SLACK
        better[ROOT] = False
        ways = better[self._failures] & (values == reached[self._failures])
        before[self._failures[ways]] = np.flatnonzero(ways)
        values[better] = reached[better]
        return bool(better.any())

    def _entered(self, states: Indices, before: Indices) -> Indices:
        """States of a cycle that an arc with a token leads into; failure arcs lead up."""
        return states[self._depths[states] > self._depths[before[states]]]


def _way(end: int, before: Indices) -> Indices:
    """The states from the root's first child to this one."""
    states = []
    while end != ROOT:
        states.append(end)
        end = int(before[end])
    return np.array(states[::-1])


def _closed(before: Indices) -> list[Indices]:
    """The cycles among ways back, which else end at the root."""
    far = np.where(np.arange(len(before)) == ROOT, ROOT, before)
    for _ in range(len(before).bit_length()):
        far = far[far]
    left = set(far[far != ROOT].tolist())
    cycles = []
    while left:
        state = min(left)
        cycle = [state]
        while (state := int(before[state])) != cycle[0]:
            cycle.append(state)
        left.difference_update(cycle)
        cycles.append(np.array(cycle))
    return cycles
