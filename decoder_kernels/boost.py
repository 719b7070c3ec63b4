"""Boosted phrases as an Aho-Corasick automaton over tokens (Aho and Corasick 1975).

A hypothesis that follows a phrase earns the phrase's weight token by token. This bonus is
*pending*: it is taken back when the hypothesis leaves the phrase. A hypothesis that completes the
phrase keeps ``weight * len(tokens)``, its *completed* bonus. So the boost of a token sequence is

    boost = sum of completed(state) over all states passed + pending(present state),

a function of the sequence alone, and without its last term once the utterance is over.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from decoder_kernels.errors import BoostTableError

MAX_WEIGHT = 20.0
"""Bonus per token, in nats, beyond which more changes nothing: exp(20) is half a billion to one."""

ROOT = 0


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
        cls, phrases: Sequence[BoostPhrase], vocab_size: int, *, hold_completed: bool = False
    ) -> "BoostTable":
        """Build the automaton; a phrase given twice counts once, with the larger weight.

        ``hold_completed`` is WeNet's rule: the bonus of a phrase stays pending when the phrase is
        complete, on top of what it keeps, until the next token. That holds the next token back in
        partial results, so by default a completed phrase has nothing pending any more.

        Raises BoostTableError for a token outside the vocabulary.
        """
        for phrase in phrases:
            for token in phrase.tokens:
                if not 0 <= token < vocab_size:
                    raise BoostTableError(f"token {token} is outside the vocabulary {vocab_size}")
        return _Trie(phrases).table(hold_completed)

    @property
    def num_states(self) -> int:
        """Rows that the table takes in an arena."""
        return self.links.shape[1]

    @property
    def tokens(self) -> frozenset[int]:
        """All tokens of all phrases."""
        return frozenset(self.links[0, 1:].tolist())


@dataclass
class _Node:
    """A state while the automaton is built."""

    token: int
    parent: int
    depth: int
    weight: float = -math.inf  # the largest of the phrases that pass through
    own: float | None = None  # bonus of the phrase that ends here
    kept: float = 0.0  # bonus of all phrases that end on the way from the root to here


class _Trie:
    """Phrases as a tree, numbered breadth first."""

    def __init__(self, phrases: Sequence[BoostPhrase]) -> None:
        self.nodes = [_Node(token=-1, parent=ROOT, depth=0)]
        self.children: list[dict[int, int]] = [{}]
        # In this order the children of a state come one after the other, sorted by token.
        sequences = sorted({phrase.tokens for phrase in phrases})
        states = [ROOT] * len(sequences)
        for depth in range(max(map(len, sequences), default=0)):
            for i, tokens in enumerate(sequences):
                if depth < len(tokens):
                    states[i] = self._child(states[i], tokens[depth])
        for phrase in phrases:
            self._mark(phrase)

    def _child(self, parent: int, token: int) -> int:
        """The state that the token leads to, a new one if need be."""
        if token not in self.children[parent]:
            self.children[parent][token] = len(self.nodes)
            self.nodes.append(_Node(token, parent, self.nodes[parent].depth + 1))
            self.children.append({})
        return self.children[parent][token]

    def _path(self, tokens: Sequence[int]) -> Iterator[int]:
        state = ROOT
        for token in tokens:
            state = self.children[state][token]
            yield state

    def _mark(self, phrase: BoostPhrase) -> None:
        for state in self._path(phrase.tokens):
            node = self.nodes[state]
            node.weight = max(node.weight, phrase.bonus)
        own = phrase.bonus * len(phrase.tokens)
        node.own = own if node.own is None else max(node.own, own)

    def table(self, hold_completed: bool) -> BoostTable:
        failures = self._failures()
        pending = [0.0] * len(self.nodes)
        completed = [0.0] * len(self.nodes)
        for state, node in enumerate(self.nodes[1:], start=1):
            node.kept = self.nodes[node.parent].kept + (node.own or 0.0)
            completed[state] = (node.own or 0.0) + completed[failures[state]]
            pending[state] = self._pending(state, hold_completed, pending[failures[state]])
        first = 1
        links: list[list[int]] = []
        for state, node in enumerate(self.nodes):
            count = len(self.children[state])
            links.append([node.token, first, count, failures[state]])
            first += count
        return BoostTable(
            torch.tensor(links, dtype=torch.int32).T.contiguous(),
            torch.tensor([pending, completed], dtype=torch.float64),
        )

    def _pending(self, state: int, hold_completed: bool, pending_of_suffix: float) -> float:
        """The bonus under way at a state: what the path has earned and does not keep yet."""
        node = self.nodes[state]
        if hold_completed:
            return node.weight * node.depth
        if not self.children[state]:
            return pending_of_suffix  # from here on only a suffix of the phrase can go on
        open_bonus = node.weight * node.depth - node.kept
        return max(0.0, open_bonus) if node.weight >= 0 else min(0.0, open_bonus)

    def _failures(self) -> list[int]:
        """For each state the longest proper suffix that is a state, shallow states first."""
        failures = [ROOT] * len(self.nodes)
        for state, node in enumerate(self.nodes):
            if node.depth < 2:
                continue
            suffix = failures[node.parent]
            while suffix != ROOT and node.token not in self.children[suffix]:
                suffix = failures[suffix]
            failures[state] = self.children[suffix].get(node.token, ROOT)
        return failures
