"""Boosted phrases (hotwords) as an Aho-Corasick automaton over tokens (Aho and Corasick 1975).

A hypothesis that follows a phrase earns the phrase's weight token by token. This bonus is
*pending*: it is taken back when the hypothesis leaves the phrase. A hypothesis that completes the
phrase keeps ``weight * len(tokens)``, its *completed* bonus. What a negative weight costs is paid
by completion alone: on the way it would fall on all that begins like the phrase. So the boost of a
token sequence is

    boost = sum of completed(state) over all states passed + pending(present state),

a function of the sequence alone, and without its last term once the utterance is over.
"""

import math
import zlib
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import torch
from torch import Tensor

from earshot.decoder_kernels.boosting.phrase_trie import ROOT, PhraseTrie
from earshot.decoder_kernels.errors import BoostTableError

MAX_WEIGHT = 20.0
"""Bonus per token, in nats, beyond which more changes nothing: exp(20) is half a billion to one."""

TOKEN_LIMIT = 3.0
"""Nats per token that a sequence may earn however often it is said, if nothing but the sound
speaks against it: with more, phrases are heard where nobody says them."""


@dataclass(frozen=True)
class BoostPhrase:
    """One phrase: its tokens, and the bonus in nats that each of them earns (negative: costs).

    Weights beyond ±``MAX_WEIGHT`` are clamped to it when a table is compiled. Raises
    BoostTableError for a phrase without tokens or a weight that is not finite.
    """

    tokens: tuple[int, ...]
    weight: float

    def __post_init__(self) -> None:
        if not self.tokens:
            raise BoostTableError("a phrase to boost has no tokens")
        if not math.isfinite(self.weight):
            raise BoostTableError(f"the weight of a boosted phrase is {self.weight}")

    @property
    def bonus(self) -> float:
        """What one token earns, clamped."""
        return max(-MAX_WEIGHT, min(MAX_WEIGHT, self.weight))


@dataclass(frozen=True)
class BoostTable:
    """The automaton as flat arrays, one row per state.

    States are numbered breadth first, with the children of a state side by side in the order of
    their tokens: arc and child are the same row, and a child is found by bisection.

    ``links`` (4, S) int32: token into the state, first child, number of children, failure state
    (the longest proper suffix that is a state). ``bonuses`` (2, S) float64: pending, completed.
    """

    links: Tensor
    bonuses: Tensor

    @classmethod
    def compile(
        cls,
        phrases: Sequence[BoostPhrase],
        vocab_size: int,
        *,
        hold_completed: bool = False,
        most_pending: float = math.inf,
        silent: Container[int] = (),
    ) -> "BoostTable":
        """Build the automaton; a phrase given twice counts once, with the larger weight.

        ``most_pending``: nats that phrases under way may have pending; their end pays the rest.
        ``silent``: tokens that tell nothing of a phrase which they begin, as a space of its own
        does, with which all sorts of words begin: its end pays for them, and nothing is pending.

        ``hold_completed`` is WeNet's rule: the bonus of a phrase stays pending when the phrase is
        complete, on top of what it keeps, until the next token. That holds the next token back in
        partial results, so by default a completed phrase has nothing pending any more.

        Raises BoostTableError for a token outside the vocabulary.
        """
        for phrase in phrases:
            for token in phrase.tokens:
                if not 0 <= token < vocab_size:
                    raise BoostTableError(f"token {token} is outside the vocabulary {vocab_size}")
        trie = PhraseTrie(phrase.tokens for phrase in phrases)
        bonuses = PhraseBonuses(trie, phrases)
        rows = bonuses.rows(most_pending, hold_completed, silent)
        return cls(_links(trie), torch.tensor(rows, dtype=torch.float64))

    @property
    def num_states(self) -> int:
        """Rows that the table takes in an arena."""
        return self.links.shape[1]

    @cached_property
    def fingerprint(self) -> int:
        """A number of 32 bits, the same for the same table in every process."""
        return zlib.crc32(self.bonuses.numpy().tobytes(), zlib.crc32(self.links.numpy().tobytes()))

    @property
    def tokens(self) -> frozenset[int]:
        """All tokens of all phrases."""
        return frozenset(self.links[0, 1:].tolist())


class PhraseBonuses:
    """What the states of a trie earn; all lists go by state."""

    def __init__(self, trie: PhraseTrie, phrases: Sequence[BoostPhrase]) -> None:
        self.trie = trie
        self.weight = [-math.inf] * len(trie)  # the largest of the phrases that pass through
        self.own: list[float | None] = [None] * len(trie)  # of the phrase that ends here
        for phrase in phrases:
            self._mark(phrase)

    def _mark(self, phrase: BoostPhrase) -> None:
        end = ROOT
        for end in self.trie.path(phrase.tokens):
            self.weight[end] = max(self.weight[end], phrase.bonus)
        own, other = phrase.bonus * len(phrase.tokens), self.own[end]
        self.own[end] = own if other is None else max(own, other)

    def rows(
        self,
        most_pending: float = math.inf,
        hold_completed: bool = False,
        silent: Container[int] = (),
    ) -> tuple[list[float], list[float]]:
        """Pending and completed bonus of each state."""
        trie, told = self.trie, self._told(silent)
        pending, completed, kept = ([0.0] * len(trie) for _ in range(3))
        for state in range(1, len(trie)):
            own, failure = self.own[state] or 0.0, trie.failures[state]
            kept[state] = kept[trie.parents[state]] + max(0.0, own)
            completed[state] = own + completed[failure]
            if hold_completed:
                pending[state] = self.weight[state] * trie.depths[state]
            elif trie.children[state]:
                earned = self.weight[state] * told[state]
                pending[state] = min(most_pending, max(0.0, earned - kept[state]))
            else:  # from here on only a suffix of the phrase can go on
                pending[state] = pending[failure]
        return pending, completed

    def _told(self, silent: Container[int]) -> list[int]:
        """Tokens of each state behind the silent ones that it begins with."""
        told = [0] * len(self.trie)
        for state in range(1, len(self.trie)):
            before = told[self.trie.parents[state]]
            told[state] = before + (before > 0 or self.trie.tokens[state] not in silent)
        return told


def _links(trie: PhraseTrie) -> Tensor:
    counts = [len(children) for children in trie.children]
    firsts = accumulate(counts[:-1], initial=1)
    rows = [trie.tokens, list(firsts), counts, trie.failures]
    return torch.tensor(rows, dtype=torch.int32)
