"""How likely sentences are, by the neural language model: the score of n-best rescoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sentencepiece
import torch
from torch import Tensor

from earshot.models.neural_lm.network import NeuralLm
from earshot.models.neural_lm.token_tree import TokenTree

NODES_AT_ONCE = 512
"""Of trees that share a batch: each node takes a row of the vocabulary's size."""

WORDS_REMEMBERED = 65_536


@dataclass(frozen=True)
class SentenceScore:
    """Log-probabilities in nats: of each word after those before it, and of the end after all."""

    words: tuple[float, ...]
    end: float


class SentenceScorer:
    """Scores sentences of words; those of one list should begin alike. For one thread at a time.

    network: on any device; it is put into evaluation mode. tokenizer: its </s> stands both before
    and after a sentence.
    """

    def __init__(self, network: NeuralLm, tokenizer: sentencepiece.SentencePieceProcessor) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer
        self._boundary = tokenizer.eos_id()
        self._spell = lru_cache(WORDS_REMEMBERED)(self._tokens_of)

    def score(self, lists: Sequence[Sequence[Sequence[str]]]) -> list[list[SentenceScore] | None]:
        """For each list of sentences their scores; None where one is longer than the context.

        Words are taken in lower case. Lists share batches, as trees.
        """
        found: list[list[SentenceScore] | None] = [None] * len(lists)
        spelled = [[[self._spell(word) for word in words] for words in own] for own in lists]
        trees = {row: self._tree(own) for row, own in enumerate(spelled) if self._fits(own)}
        for rows in _batches(trees):
            log_probs, ends = self._log_probs([trees[row] for row in rows])
            for row, nodes, end in zip(rows, log_probs, ends, strict=True):
                found[row] = _by_word(spelled[row], trees[row], nodes, end)
        return found

    def _tokens_of(self, word: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.encode(word.lower()))

    def _fits(self, sentences: Sequence[Sequence[Sequence[int]]]) -> bool:
        return all(sum(map(len, words)) < self.network.config.context for words in sentences)

    def _tree(self, sentences: Sequence[Sequence[Sequence[int]]]) -> TokenTree:
        flat = [[token for word in words for token in word] for words in sentences]
        return TokenTree.of(flat, self._boundary)

    @torch.inference_mode()
    def _log_probs(self, trees: Sequence[TokenTree]) -> tuple[list[list[float]], list[list[float]]]:
        """For the nodes of each tree: of their tokens after what leads there, of an end there."""
        width = max(map(len, trees))
        device = self.network.bias.device
        tokens = _padded([tree.tokens for tree in trees], width).to(device)
        depths = _padded([tree.depths for tree in trees], width).to(device)
        parents = _padded([tree.parents for tree in trees], width).to(device)
        visible = torch.eye(width, dtype=torch.bool).repeat(len(trees), 1, 1)
        for row, tree in enumerate(trees):
            visible[row, : len(tree), : len(tree)] = tree.visible()
        follow = self.network(tokens, depths, visible.to(device)).log_softmax(dim=-1)
        ends = follow[:, :, self._boundary]
        rows = torch.arange(len(trees), device=device).unsqueeze(1)
        return follow[rows, parents, tokens].tolist(), ends.tolist()


def _padded(rows: Sequence[Sequence[int]], width: int) -> Tensor:
    padded = torch.zeros(len(rows), width, dtype=torch.int64)
    for row, values in enumerate(rows):
        padded[row, : len(values)] = torch.tensor(values)
    return padded


def _batches(trees: dict[int, TokenTree]) -> Iterator[list[int]]:
    """Rows whose trees share a batch: of similar size, and not too many."""
    batch: list[int] = []
    for row in sorted(trees, key=lambda row: len(trees[row])):
        if batch and (len(batch) + 1) * len(trees[row]) > NODES_AT_ONCE:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _by_word(
    sentences: Sequence[Sequence[Sequence[int]]],
    tree: TokenTree,
    nodes: Sequence[float],
    ends: Sequence[float],
) -> list[SentenceScore]:
    scores = []
    for words, path in zip(sentences, tree.paths, strict=True):
        places = iter(path)
        by_word = tuple(sum(nodes[next(places)] for _ in word) for word in words)
        scores.append(SentenceScore(by_word, ends[path[-1] if path else 0]))
    return scores
