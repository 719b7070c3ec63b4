"""Growing texts scored by the decoder itself, on any device: all nodes anew each time."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from earshot.models.token_tree import PackedTrees, TokenTree
from earshot.models.whisper_decoder.filled_memory import filled
from earshot.models.whisper_decoder.growing_texts import (
    GrowingText,
    Listening,
    Question,
    begun,
)
from earshot.models.whisper_decoder.network import WhisperDecoder


class TorchTexts:
    """A `TextScorer`, see there.

    kept: the tokens that texts may be made of; probabilities are shares of theirs. best: how many
    of the likeliest are told of each node. silence: (W, D) of a silent window, of which memories
    that are shorter get the rest.
    """

    def __init__(
        self,
        decoder: WhisperDecoder,
        kept: Sequence[int],
        best: int,
        silence: Tensor | None = None,
    ) -> None:
        self._decoder = decoder
        self._silence = silence
        self._left_out = torch.ones(decoder.config.vocab_size, dtype=torch.bool)
        self._left_out[list(kept)] = False
        self.best = best

    def listen(self, memory: Tensor, lengths: Tensor) -> Listening:
        """Begin texts about memory (S, T, D) with lengths (S,)."""
        if self._silence is not None:
            memory, lengths = filled(memory, lengths, self._silence)
        return _TorchListening(self, memory, lengths)

    @torch.inference_mode()
    def log_probs(self, texts: Sequence[GrowingText], memory: Tensor, lengths: Tensor) -> Tensor:
        """(S, N, V) of what follows each node."""
        trees = [TokenTree(text.tokens, text.parents, text.depths, []) for text in texts]
        packed = PackedTrees.of(trees, memory.device)
        logits = self._decoder.follow(memory, lengths, packed).float()
        return logits.masked_fill(self._left_out.to(memory.device), -torch.inf).log_softmax(-1)


class _TorchListening:
    """See `Listening`."""

    def __init__(self, scorer: TorchTexts, memory: Tensor, lengths: Tensor) -> None:
        self._scorer = scorer
        self._memory = memory
        self._lengths = lengths.to(memory.device)
        self._log_probs = memory.new_empty(0)
        self.texts = begun(scorer._decoder.config.prompt, len(memory))

    def score(self) -> None:
        """Fill in `likely` of all nodes that were added."""
        if all(text.scored == len(text) for text in self.texts):
            return
        self._log_probs = self._scorer.log_probs(self.texts, self._memory, self._lengths)
        scores, tokens = (each.tolist() for each in self._log_probs.topk(self._scorer.best))
        for text, own_tokens, own_scores in zip(self.texts, tokens, scores, strict=True):
            for node in range(text.scored, len(text)):
                text.likely.append(list(zip(own_tokens[node], own_scores[node], strict=True)))

    def answer(self, questions: Sequence[Question]) -> list[float]:
        """Log-probabilities of tokens that may follow, after nodes that are scored."""
        if not questions:
            return []
        asked = torch.tensor([[q.text, q.node, q.token] for q in questions])
        texts, nodes, tokens = asked.T.to(self._log_probs.device)
        found: list[float] = self._log_probs[texts, nodes, tokens].tolist()
        return found
