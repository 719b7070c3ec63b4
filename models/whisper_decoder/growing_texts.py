"""Texts of many streams that a search lets grow, as trees under Whisper's decoder.

What was computed of a tree's nodes, and of the memory that they listen to, is kept: a new node
costs itself alone, and the decoder's weights are read once for the new nodes of all streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor

ROOT = 0


@dataclass
class GrowingText:
    """A tree of tokens about one memory; node 0 is the prompt's first token.

    tokens, parents, depths: of each node, a root is its own parent. likely: for each node that has
    been scored the tokens that the decoder would rather have after it, best first, with their
    log-probabilities.
    """

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    likely: list[list[tuple[int, float]]] = field(default_factory=list)
    _children: dict[tuple[int, int], int] = field(default_factory=dict)
    _answers: dict[tuple[int, int], float] = field(default_factory=dict)

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.tokens)

    @property
    def scored(self) -> int:
        """Number of nodes that the decoder has seen, the first ones."""
        return len(self.likely)

    def begin(self, prompt: Sequence[int]) -> int:
        """Plant the prompt; returns its last node."""
        self.tokens.append(prompt[0])
        self.parents.append(ROOT)
        self.depths.append(0)
        return self.follow(ROOT, prompt[1:])

    def follow(self, node: int, tokens: Sequence[int]) -> int:
        """The node at the end of some tokens after another; those that are missing are added."""
        for token in tokens:
            node = self._child(node, token)
        return node

    def child(self, node: int, token: int) -> int | None:
        """The node of a token after another; None where it was not added."""
        return self._children.get((node, token))

    def note(self, node: int, token: int, log_prob: float) -> None:
        """Keep what was answered of a token that may follow."""
        self._answers[node, token] = log_prob

    def log_prob(self, node: int, token: int) -> float | None:
        """The log-probability of a token that may follow, None where nobody has asked."""
        likely = self.likely[node] if node < self.scored else ()
        told = next((score for each, score in likely if each == token), None)
        return self._answers.get((node, token)) if told is None else told

    def path(self, node: int) -> list[int]:
        """Nodes from the root to a node."""
        nodes = [node]
        while nodes[-1] != ROOT:
            nodes.append(self.parents[nodes[-1]])
        return nodes[::-1]

    def _child(self, node: int, token: int) -> int:
        known = self._children.get((node, token))
        if known is not None:
            return known
        self._children[node, token] = len(self.tokens)
        self.tokens.append(token)
        self.parents.append(node)
        self.depths.append(self.depths[node] + 1)
        return len(self.tokens) - 1


@dataclass(frozen=True)
class Question:
    """A token that may follow a node of a text: how likely is it?"""

    text: int
    node: int
    token: int


class TextScorer(Protocol):
    """A decoder that lets texts grow. One batch of texts at a time."""

    def listen(self, memory: Tensor, lengths: Tensor) -> Listening:
        """Begin texts about memory (S, T, D) with lengths (S,)."""


class Listening(Protocol):
    """S texts, and what their memories are to the decoder."""

    @property
    def texts(self) -> list[GrowingText]:
        """Each with its prompt."""

    def score(self) -> None:
        """Fill in `likely` of all nodes that were added."""

    def answer(self, questions: Sequence[Question]) -> list[float]:
        """Log-probabilities of tokens that may follow, after nodes that are scored."""


def begun(prompt: Sequence[int], count: int) -> list[GrowingText]:
    """So many texts with nothing but the prompt."""
    texts = [GrowingText() for _ in range(count)]
    for text in texts:
        text.begin(prompt)
    return texts


def tell(
    texts: Sequence[GrowingText],
    kept: Sequence[int],
    outputs: Sequence[Sequence[int]],
    log_probs: Sequence[Sequence[float]],
) -> None:
    """Fill in `likely` of all nodes that were added, text by text.

    outputs: the best ones after each such node, as places in `kept`, with their log_probs.
    """
    found = iter(zip(outputs, log_probs, strict=True))
    for text in texts:
        for _ in range(len(text) - text.scored):
            best, own = next(found)
            text.likely.append(
                [(kept[output], each) for output, each in zip(best, own, strict=True)]
            )
