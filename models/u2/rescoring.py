"""Attention scores of hypotheses: the second pass of U2 (Yao 2021, section 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.models.token_tree import ROOT, PackedTrees, TokenTree, batches
from earshot.models.u2.decoder import TransformerDecoder
from earshot.models.u2.u2 import U2Model


@dataclass(frozen=True)
class AttentionScores:
    """Log-probabilities of N hypotheses under the attention decoders.

    left, right: for each the sum over its tokens and the final <eos>. left_token_log_probs and
    right_token_log_probs: for each those of its tokens, in their order, without the <eos>. A model
    without a right decoder has zeros for `right` and None for its lists.
    """

    left: list[float]
    right: list[float]
    left_token_log_probs: list[list[float]]
    right_token_log_probs: list[list[float]] | None


@torch.inference_mode()
def attention_scores(
    model: U2Model,
    memory: Tensor,
    memory_lengths: Tensor,
    hypotheses: Sequence[Sequence[int]],
    owner: Sequence[int],
    reverse: bool = True,
) -> AttentionScores:
    """Scores hypotheses of many streams in one batch.

    memory (S, T, D) with lengths (S,): encoder output of S streams; `hypotheses`: N token
    sequences, possibly empty; `owner`: for each the row of memory that it is about. What a stream's
    hypotheses begin with alike (for the right decoder: end with) is computed once. `reverse=False`
    leaves the right decoder out, for when its weight is zero.
    """
    scorer = _Scorer(memory, memory_lengths, owner, model.config.sos_id, model.config.eos_id)
    left, left_tokens = scorer.score(model.left_decoder, hypotheses)
    right_decoder = model.right_decoder if reverse else None
    if right_decoder is None:
        return AttentionScores(left, [0.0] * len(hypotheses), left_tokens, None)
    right, right_tokens = scorer.score(right_decoder, [tokens[::-1] for tokens in hypotheses])
    return AttentionScores(left, right, left_tokens, [values[::-1] for values in right_tokens])


@dataclass(frozen=True)
class _Scorer:
    memory: Tensor
    memory_lengths: Tensor
    owner: Sequence[int]
    sos_id: int
    eos_id: int

    def score(
        self, decoder: TransformerDecoder, hypotheses: Sequence[Sequence[int]]
    ) -> tuple[list[float], list[list[float]]]:
        """Each hypothesis' total, and the log-probabilities of its tokens."""
        if not hypotheses:
            return [], []
        trees = self._trees(hypotheses)
        scored: dict[int, tuple[list[float], list[float]]] = {}
        for streams in batches(trees):
            scored.update(self._follow(decoder, trees, streams))
        paths_of = [iter(tree.paths) for tree in trees]
        totals, by_token = [], []
        for stream in self.owner:
            path, (nodes, ends) = next(paths_of[stream]), scored[stream]
            by_token.append([nodes[node] for node in path])
            totals.append(sum(by_token[-1]) + ends[path[-1] if path else ROOT])
        return totals, by_token

    def _follow(
        self, decoder: TransformerDecoder, trees: Sequence[TokenTree], streams: Sequence[int]
    ) -> dict[int, tuple[list[float], list[float]]]:
        """By stream: of each node's token after what leads there, and of <eos> after it."""
        device = self.memory.device
        rows = torch.tensor(streams, device=device)
        lengths = self.memory_lengths.to(device)[rows]
        memory = self.memory[rows, : int(lengths.max())]
        packed = PackedTrees.of([trees[stream] for stream in streams], device)
        logits = decoder.follow(memory, lengths, packed)
        nodes, ends = packed.follow(logits.float().log_softmax(-1), self.eos_id)
        return dict(zip(streams, zip(nodes, ends, strict=True), strict=True))

    def _trees(self, hypotheses: Sequence[Sequence[int]]) -> list[TokenTree]:
        """One for each stream, with the paths of its hypotheses in their order."""
        listed: list[list[Sequence[int]]] = [[] for _ in self.memory]
        for stream, tokens in zip(self.owner, hypotheses, strict=True):
            listed[stream].append(tokens)
        return [TokenTree.of(own, self.sos_id) for own in listed]
