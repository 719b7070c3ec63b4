"""Sequences that begin alike, as a tree in which each beginning stands once.

The ten likeliest readings of a segment differ in a word or two: a third of the tokens is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

ROOT = 0


@dataclass(frozen=True)
class TokenTree:
    """N nodes, a parent before its children; node 0 is what all sequences begin with.

    tokens: of each node. parents: of each node but the first, whose own is itself. depths: how far
    from node 0. paths: for each sequence its nodes in order, without node 0.
    """

    tokens: list[int]
    parents: list[int]
    depths: list[int]
    paths: list[list[int]]

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]], first: int) -> TokenTree:
        """The tree of `sequences`, each after the token `first`."""
        tree = cls([first], [ROOT], [0], [])
        children: dict[tuple[int, int], int] = {}
        for sequence in sequences:
            node, path = ROOT, []
            for token in sequence:
                node = tree._child(children, node, token)
                path.append(node)
            tree.paths.append(path)
        return tree

    def _child(self, children: dict[tuple[int, int], int], parent: int, token: int) -> int:
        new = len(self.tokens)
        node = children.setdefault((parent, token), new)
        if node == new:
            self.tokens.append(token)
            self.parents.append(parent)
            self.depths.append(self.depths[parent] + 1)
        return node

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.tokens)

    def visible(self) -> Tensor:
        """`(N, N)` bool: whether a node (column) is another (row), or on the way to it."""
        seen = torch.eye(len(self), dtype=torch.bool)
        for node, parent in enumerate(self.parents):
            seen[node] |= seen[parent]
        return seen
