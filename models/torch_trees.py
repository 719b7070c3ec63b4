"""Trees of tokens scored by torch, on whatever device the network is: in padded batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from earshot.models.token_tree import PackedTrees, TokenTree, batches
from earshot.models.tree_scorer import NodeScores

Follow = Callable[[PackedTrees, Tensor | None, Tensor | None], Tensor]
"""Logits (B, N, V) of what follows each node of a batch; memory (B, T, D) with lengths (B,)."""


class TorchTrees:
    """A `TreeScorer` that sees the weights as they are at each call."""

    def __init__(self, follow: Follow, device: torch.device) -> None:
        self._follow = follow
        self._device = device

    @torch.inference_mode()
    def __call__(
        self,
        trees: Sequence[TokenTree],
        end: int,
        memory: Tensor | None = None,
        lengths: Tensor | None = None,
    ) -> list[NodeScores]:
        """Score trees, see `TreeScorer`; trees of similar size share a batch."""
        scored: dict[int, NodeScores] = {}
        for numbers in batches(trees):
            rows = torch.tensor(numbers, device=self._device)
            packed = PackedTrees.of([trees[number] for number in numbers], self._device)
            own = None if lengths is None else lengths[rows]
            heard = None if memory is None or own is None else memory[rows, : int(own.max())]
            logits = self._follow(packed, heard, own)
            nodes, ends = packed.follow(logits.float().log_softmax(dim=-1), end)
            for number, own_nodes, own_ends in zip(numbers, nodes, ends, strict=True):
                size = len(trees[number])  # the rest is padding
                scored[number] = NodeScores(own_nodes[:size], own_ends[:size])
        return [scored[number] for number in range(len(trees))]
