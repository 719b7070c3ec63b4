"""How likely sentences are, by the neural language model: the score of n-best rescoring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sentencepiece

from earshot.models.native.precision import Precision
from earshot.models.neural_lm.network import NeuralLm
from earshot.models.neural_lm.sentence_trees import sentence_trees
from earshot.models.token_tree import ROOT, TokenTree
from earshot.models.tree_scorer import NodeScores

WORDS_REMEMBERED = 65_536


@dataclass(frozen=True)
class SentenceScore:
    """Log-probabilities in nats: of each word after those before it, and of the end after all."""

    words: tuple[float, ...]
    end: float


class SentenceScorer:
    """Scores sentences of words; those of one list should begin alike. For one thread at a time.

    network: on any device; it is put into evaluation mode. tokenizer: its </s> stands both before
    and after a sentence. precision: where it runs natively.
    """

    def __init__(
        self,
        network: NeuralLm,
        tokenizer: sentencepiece.SentencePieceProcessor,
        precision: Precision = "float32",
    ) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer
        self._precision = precision
        self._score_trees = sentence_trees(self.network, precision)
        self._boundary = tokenizer.eos_id()
        self._spell = lru_cache(WORDS_REMEMBERED)(self._tokens_of)

    def with_precision(self, precision: Precision) -> SentenceScorer:
        """One of the same network; itself where nothing changes."""
        if precision == self._precision:
            return self
        return SentenceScorer(self.network, self.tokenizer, precision)

    def score(self, lists: Sequence[Sequence[Sequence[str]]]) -> list[list[SentenceScore] | None]:
        """For each list of sentences their scores; None where one is longer than the context.

        Words are taken in lower case. Lists share batches, as trees.
        """
        found: list[list[SentenceScore] | None] = [None] * len(lists)
        spelled = [[[self._spell(word) for word in words] for words in own] for own in lists]
        fitting = [row for row, own in enumerate(spelled) if self._fits(own)]
        trees = [self._tree(spelled[row]) for row in fitting]
        for row, tree, scores in zip(fitting, trees, self._scored(trees), strict=True):
            found[row] = _by_word(spelled[row], tree, scores)
        return found

    def _scored(self, trees: Sequence[TokenTree]) -> list[NodeScores]:
        return self._score_trees(trees, self._boundary) if trees else []

    def _tokens_of(self, word: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.encode(word.lower()))

    def _fits(self, sentences: Sequence[Sequence[Sequence[int]]]) -> bool:
        return all(sum(map(len, words)) < self.network.config.context for words in sentences)

    def _tree(self, sentences: Sequence[Sequence[Sequence[int]]]) -> TokenTree:
        flat = [[token for word in words for token in word] for words in sentences]
        return TokenTree.of(flat, self._boundary)


def _by_word(
    sentences: Sequence[Sequence[Sequence[int]]],
    tree: TokenTree,
    scores: NodeScores,
) -> list[SentenceScore]:
    sentences_scored = []
    for words, path in zip(sentences, tree.paths, strict=True):
        places = iter(path)
        by_word = tuple(sum(scores.nodes[next(places)] for _ in word) for word in words)
        sentences_scored.append(SentenceScore(by_word, scores.ends[path[-1] if path else ROOT]))
    return sentences_scored
