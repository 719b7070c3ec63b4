"""Phrases as a tree with failure links: what the boost automaton is made of.

Aho and Corasick 1975. States are numbered breadth first, with the children of a state side by side
in the order of their tokens, so a state's failure, which is shorter, comes before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

ROOT = 0


class PhraseTrie:
    """A state for each beginning of a phrase; all lists go by state.

    ``tokens``: the last one, -1 at the root. ``parents``, ``depths``; ``children``: by token.
    """

    def __init__(self, sequences: Iterable[Sequence[int]]) -> None:
        self.tokens = [-1]
        self.parents = [ROOT]
        self.depths = [0]
        self.children: list[dict[int, int]] = [{}]
        # In this order the children of a state come one after the other, sorted by token.
        ordered = sorted({tuple(tokens) for tokens in sequences})
        states = [ROOT] * len(ordered)
        for depth in range(max(map(len, ordered), default=0)):
            for i, tokens in enumerate(ordered):
                if depth < len(tokens):
                    states[i] = self._child(states[i], tokens[depth])

    def __len__(self) -> int:
        return len(self.tokens)

    def _child(self, parent: int, token: int) -> int:
        """The state that the token leads to, a new one if need be."""
        if token not in self.children[parent]:
            self.children[parent][token] = len(self)
            self.tokens.append(token)
            self.parents.append(parent)
            self.depths.append(self.depths[parent] + 1)
            self.children.append({})
        return self.children[parent][token]

    def path(self, tokens: Sequence[int]) -> Iterator[int]:
        """The states of a phrase, from its first token to its last."""
        state = ROOT
        for token in tokens:
            state = self.children[state][token]
            yield state

    def end(self, tokens: Sequence[int]) -> int:
        """The state of a whole phrase."""
        return deque(self.path(tokens), maxlen=1)[0]

    def suffixes(self, state: int) -> Iterator[int]:
        """The state itself and all that end like it, longest first."""
        while state != ROOT:
            yield state
            state = self.failures[state]

    @cached_property
    def failures(self) -> list[int]:
        """For each state the longest proper suffix that is a state."""
        failures = [ROOT] * len(self)
        for state, (token, parent) in enumerate(zip(self.tokens, self.parents, strict=True)):
            if self.depths[state] < 2:
                continue
            suffix = failures[parent]
            while suffix != ROOT and token not in self.children[suffix]:
                suffix = failures[suffix]
            failures[state] = self.children[suffix].get(token, ROOT)
        return failures
