"""Trees of tokens scored natively on a CPU: `csrc/tree_scores.h`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from earshot.models import _native
from earshot.models.token_tree import ROOT, TokenTree
from earshot.models.tree_scorer import NodeScores
from earshot.native.dlpack import dlpack_capsule

Embed = Callable[[Tensor, Tensor], Tensor]
"""Tokens (N,) at depths (N,) to what a network's first block gets, (N, D)."""


class NativeTrees:
    """A `TreeScorer` whose weights were copied.

    embed: by torch, it is next to nothing.
    """

    def __init__(self, embed: Embed, scores: _native.TreeScores) -> None:
        self._embed = embed
        self._scores = scores

    @torch.inference_mode()
    def __call__(
        self,
        trees: Sequence[TokenTree],
        end: int,
        memory: Tensor | None = None,
        lengths: Tensor | None = None,
    ) -> list[NodeScores]:
        """Scores of the trees' nodes, see `TreeScorer`."""
        firsts = [0, *accumulate(map(len, trees))]
        tokens, depths, parents = (
            torch.tensor([value for tree in trees for value in getattr(tree, name)])
            for name in ("tokens", "depths", "parents")
        )
        parents += torch.tensor(firsts[:-1]).repeat_interleave(torch.tensor(firsts).diff())
        nodes, ends = torch.empty(2, firsts[-1])
        first_chains, starts, steps, paths = map(dlpack_capsule, _chains(trees, firsts))
        self._scores.run(
            dlpack_capsule(self._embed(tokens, depths).contiguous()),
            dlpack_capsule(torch.tensor(firsts)),
            dlpack_capsule(tokens),
            dlpack_capsule(parents),
            first_chains,
            starts,
            steps,
            paths,
            None if memory is None else dlpack_capsule(memory.contiguous()),
            None if lengths is None else dlpack_capsule(lengths),
            end,
            dlpack_capsule(nodes),
            dlpack_capsule(ends),
            torch.get_num_threads(),
        )
        own, end_scores = nodes.tolist(), ends.tolist()
        return [
            NodeScores(own[begin:stop], end_scores[begin:stop]) for begin, stop in pairwise(firsts)
        ]


def _chains(trees: Sequence[TokenTree], firsts: Sequence[int]) -> tuple[Tensor, ...]:
    """First chain of each tree, first nodes, first steps and paths of all chains."""
    starts: list[int] = []
    first_chains, first_steps, paths = [0], [0], []
    for tree, first in zip(trees, firsts, strict=False):
        seen = 0
        for path in [[], *tree.paths]:
            whole = [ROOT, *path]
            new = bisect_left(whole, seen)
            if new == len(whole):
                continue  # another sequence has begun like it
            starts.append(first + whole[new])
            paths += [first + node for node in whole]
            first_steps.append(len(paths))
            seen = whole[-1] + 1
        first_chains.append(len(starts))
    listed = (first_chains, starts, first_steps, paths)
    return tuple(torch.tensor(each, dtype=torch.int64) for each in listed)
