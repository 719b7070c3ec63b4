"""Sequences that begin alike, as a tree in which each beginning stands once.

The ten likeliest hypotheses of a segment differ in a word or two: a third of the tokens is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

ROOT = 0

NODES_AT_ONCE = 512
"""Of trees that share a batch: each node takes a row of the vocabulary's size."""

WIDEST = 1.25
"""How much larger than the smallest of its batch a tree may be: what is padded is computed too."""


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
            path = _known(children, sequence)
            tree.paths.append([*path, *tree._grow(children, path, sequence[len(path) :])])
        return tree

    def _grow(
        self, children: dict[tuple[int, int], int], path: list[int], tokens: Sequence[int]
    ) -> range:
        """New nodes after a path, each the child of the one before."""
        last = path[-1] if path else ROOT
        new = range(len(self), len(self) + len(tokens))
        parents = [last, *new[:-1]][: len(tokens)]
        self.tokens.extend(tokens)
        self.parents.extend(parents)
        depth = self.depths[last] + 1
        self.depths.extend(range(depth, depth + len(tokens)))
        children.update(zip(zip(parents, tokens, strict=True), new, strict=True))
        return new

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.tokens)

    def visible(self) -> NDArray[np.bool_]:
        """`(N, N)`: whether a node (column) is another (row), or on the way to it."""
        seen = np.eye(len(self), dtype=np.bool_)
        for node, parent in enumerate(self.parents):
            seen[node] |= seen[parent]
        return seen


def _known(children: dict[tuple[int, int], int], sequence: Sequence[int]) -> list[int]:
    """The nodes that there are of a sequence; from the first that there is not, none is."""
    node, path = ROOT, []
    for token in sequence:
        child = children.get((node, token))
        if child is None:
            break
        node = child
        path.append(node)
    return path


@dataclass(frozen=True)
class PackedTrees:
    """B trees side by side, padded to the N nodes of the largest; on the network's device.

    tokens, depths, parents (B, N) int64: see `TokenTree`. visible (B, N, N) bool: which nodes (last
    dimension) each node sees, itself at least.
    """

    tokens: Tensor
    depths: Tensor
    parents: Tensor
    visible: Tensor

    @classmethod
    def of(cls, trees: Sequence[TokenTree], device: torch.device) -> PackedTrees:
        """Two copies to the device, however many trees."""
        width = max(map(len, trees))
        nodes = np.zeros((3, len(trees), width), np.int64)
        visible = np.repeat(np.eye(width, dtype=np.bool_)[None], len(trees), axis=0)
        for row, tree in enumerate(trees):
            nodes[:, row, : len(tree)] = tree.tokens, tree.depths, tree.parents
            visible[row, : len(tree), : len(tree)] = tree.visible()
        tokens, depths, parents = torch.from_numpy(nodes).to(device)
        return cls(tokens, depths, parents, torch.from_numpy(visible).to(device))

    def follow(self, log_probs: Tensor, end: int) -> tuple[list[list[float]], list[list[float]]]:
        """Read from `(B, N, V)`, what follows each node, in one go.

        For the nodes of each tree: of their tokens after what leads there, and of the token `end`
        after them.
        """
        rows = torch.arange(len(self.tokens), device=log_probs.device).unsqueeze(1)
        found = torch.stack((log_probs[rows, self.parents, self.tokens], log_probs[:, :, end]))
        nodes, ends = found.tolist()
        return nodes, ends


def batches(trees: Sequence[TokenTree]) -> Iterator[list[int]]:
    """Numbers of trees that share a batch: of similar size, and not too many."""
    batch: list[int] = []
    for number in sorted(range(len(trees)), key=lambda number: len(trees[number])):
        size = len(trees[number])
        too_wide = batch and size > WIDEST * len(trees[batch[0]])
        if batch and (too_wide or (len(batch) + 1) * size > NODES_AT_ONCE):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch
