"""How likely the nodes of token trees are, by whichever network and on whatever it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from torch import Tensor

from earshot.models.token_tree import TokenTree


class NodeScores(NamedTuple):
    """Log-probabilities for the N nodes of a tree, after what leads to each.

    nodes: of their own tokens; the first's is without meaning. ends: of an end after them.
    """

    nodes: list[float]
    ends: list[float]


class TreeScorer(Protocol):
    """A network that says what comes next."""

    def __call__(
        self,
        trees: Sequence[TokenTree],
        end: int,
        memory: Tensor | None = None,
        lengths: Tensor | None = None,
    ) -> list[NodeScores]:
        """Score S trees; `end` is the token after a whole sequence.

        memory (S, T, D) with lengths (S,): what a decoder with a source listens to, of each tree.
        """
