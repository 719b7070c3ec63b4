"""Attention scores of hypotheses: the second pass of U2 (Yao 2021, section 2.1.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from earshot.models.native.precision import Precision
from earshot.models.token_tree import ROOT, TokenTree
from earshot.models.tree_scorer import TreeScorer
from earshot.models.u2.decoder import TransformerDecoder
from earshot.models.u2.decoder_trees import decoder_trees, torch_decoder_trees
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


class AttentionScorer:
    """Scores hypotheses of many streams at once.

    left, right: of the decoders; None for the right one where there is none.
    """

    def __init__(
        self, left: TreeScorer, right: TreeScorer | None, sos_id: int, eos_id: int
    ) -> None:
        self._left = left
        self._right = right
        self._sos_id = sos_id
        self._eos_id = eos_id

    @classmethod
    def of(cls, model: U2Model, precision: Precision = "float32") -> AttentionScorer:
        """The fastest for this model; its weights must not change from now on.

        precision: of native decoders.
        """
        return cls._of(model, partial(decoder_trees, precision=precision))

    @classmethod
    def by_torch(cls, model: U2Model) -> AttentionScorer:
        """With the model's own decoders."""
        return cls._of(model, torch_decoder_trees)

    @classmethod
    def _of(
        cls, model: U2Model, scorer: Callable[[TransformerDecoder], TreeScorer]
    ) -> AttentionScorer:
        right = None if model.right_decoder is None else scorer(model.right_decoder)
        return cls(scorer(model.left_decoder), right, model.config.sos_id, model.config.eos_id)

    def __call__(
        self,
        memory: Tensor,
        memory_lengths: Tensor,
        hypotheses: Sequence[Sequence[int]],
        owner: Sequence[int],
        reverse: bool = True,
    ) -> AttentionScores:
        """See `attention_scores`."""
        sources = _Sources(memory, memory_lengths, owner)
        left, left_tokens = self._score(self._left, sources, hypotheses)
        if self._right is None or not reverse:
            return AttentionScores(left, [0.0] * len(hypotheses), left_tokens, None)
        backwards = [tokens[::-1] for tokens in hypotheses]
        right, right_tokens = self._score(self._right, sources, backwards)
        return AttentionScores(left, right, left_tokens, [one[::-1] for one in right_tokens])

    def _score(
        self, scorer: TreeScorer, sources: _Sources, hypotheses: Sequence[Sequence[int]]
    ) -> tuple[list[float], list[list[float]]]:
        """Each hypothesis' total, and the log-probabilities of its tokens."""
        if not hypotheses:
            return [], []
        trees = sources.trees(hypotheses, self._sos_id)
        scored = scorer(trees, self._eos_id, sources.memory, sources.lengths)
        paths_of = [iter(tree.paths) for tree in trees]
        totals, by_token = [], []
        for stream in sources.owner:
            path, (nodes, ends) = next(paths_of[stream]), scored[stream]
            by_token.append([nodes[node] for node in path])
            totals.append(sum(by_token[-1]) + ends[path[-1] if path else ROOT])
        return totals, by_token


def attention_scores(
    model: U2Model,
    memory: Tensor,
    memory_lengths: Tensor,
    hypotheses: Sequence[Sequence[int]],
    owner: Sequence[int],
    reverse: bool = True,
) -> AttentionScores:
    """Scores hypotheses of many streams in one go, with the model as it is now.

    memory (S, T, D) with lengths (S,): encoder output of S streams; `hypotheses`: N token
    sequences, possibly empty; `owner`: for each the row of memory that it is about. What a stream's
    hypotheses begin with alike (for the right decoder: end with) is computed once. `reverse=False`
    leaves the right decoder out, for when its weight is zero.
    """
    score = AttentionScorer.by_torch(model)
    return score(memory, memory_lengths, hypotheses, owner, reverse)


class _Sources:
    """The audio that hypotheses are of."""

    def __init__(self, memory: Tensor, lengths: Tensor, owner: Sequence[int]) -> None:
        self.memory = memory
        self.lengths = lengths.to(memory.device)
        self.owner = owner

    def trees(self, hypotheses: Sequence[Sequence[int]], first: int) -> list[TokenTree]:
        """One for each stream, with the paths of its hypotheses in their order."""
        listed: list[list[Sequence[int]]] = [[] for _ in self.memory]
        for stream, tokens in zip(self.owner, hypotheses, strict=True):
            listed[stream].append(tokens)
        return [TokenTree.of(own, first) for own in listed]
