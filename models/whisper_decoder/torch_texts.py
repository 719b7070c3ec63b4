"""Growing texts scored by torch, on any device: new nodes of all texts in one padded batch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.layers.masks import padding_mask
from earshot.models.whisper_decoder.filled_memory import filled
from earshot.models.whisper_decoder.growing_texts import (
    Listening,
    Question,
    begun,
    tell,
)
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder.new_nodes import NewNodes

OUTPUTS_AT_ONCE = 1024
"""Nodes whose logits are in memory at a time: each has a row of as many numbers as tokens."""


class TorchTexts:
    """A `TextScorer`, see there; the decoder's weights must not change from now on.

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
        self.decoder = decoder
        self.kept = list(kept)
        self.best = best
        self.outputs = {token: output for output, token in enumerate(self.kept)}
        self.output = decoder.token_embedding.weight[self.kept]  # (K, D)
        self._silence = silence

    @torch.inference_mode()
    def listen(self, memory: Tensor, lengths: Tensor) -> Listening:
        """Begin texts about memory (S, T, D) with lengths (S,)."""
        if self._silence is not None:
            memory, lengths = filled(memory, lengths, self._silence)
        return _TorchListening(self, memory, lengths)


class _TorchListening:
    """See `Listening`. What a text's nodes and its memory are to each layer is kept."""

    def __init__(self, scorer: TorchTexts, memory: Tensor, lengths: Tensor) -> None:
        self._scorer = scorer
        self._blocks = scorer.decoder.layers
        self._heard = _heard(memory, lengths)
        self._memories = [block.cross_attn.project(memory) for block in self._blocks]
        nothing = self._memories[0][0][:, :, :0]
        self._known = [(nothing, nothing) for _ in self._blocks]
        self._hidden = memory[:, :0]
        self._totals = memory.new_empty(len(memory), 0)
        self.texts = begun(scorer.decoder.config.prompt, len(memory))

    @torch.inference_mode()
    def score(self) -> None:
        """Fill in `likely` of all nodes that were added."""
        if all(text.scored == len(text) for text in self.texts):
            return
        new = NewNodes.of(self.texts, self._hidden.device)
        self._make_room(max(map(len, self.texts)))
        hidden = self._listened(new)[new.rows, new.places]
        self._hidden[new.owners, new.nodes] = hidden
        tell(self.texts, self._scorer.kept, *self._likeliest(hidden, new.owners, new.nodes))

    def _likeliest(
        self, hidden: Tensor, owners: Tensor, nodes: Tensor
    ) -> tuple[list[list[int]], list[list[float]]]:
        """The best outputs after each of Q nodes, and their log-probabilities."""
        outputs, scores = list[list[int]](), list[list[float]]()
        for first in range(0, len(hidden), OUTPUTS_AT_ONCE):
            part = slice(first, first + OUTPUTS_AT_ONCE)
            logits = functional.linear(hidden[part], self._scorer.output)
            totals = logits.logsumexp(-1)
            self._totals[owners[part], nodes[part]] = totals
            best = logits.topk(self._scorer.best)
            outputs += best.indices.tolist()
            scores += (best.values - totals.unsqueeze(1)).tolist()
        return outputs, scores

    def _listened(self, new: NewNodes) -> Tensor:
        """(R, M, D): what the last layer makes of new nodes, whose keys and values are kept."""
        x = self._scorer.decoder.embed_tokens(new.tokens, new.depths)
        heard = None if self._heard is None else self._of(new, self._heard)
        for block, known, memory in zip(self._blocks, self._known, self._memories, strict=True):
            normed = block.attn_ln(x)
            for kept, own in zip(known, block.attn.project(normed), strict=True):
                kept[new.owners, :, new.nodes] = own[new.rows, :, new.places]
            seen = new.visible.size(-1)
            before = self._of(new, known[0])[:, :, :seen], self._of(new, known[1])[:, :, :seen]
            about = self._of(new, memory[0]), self._of(new, memory[1])
            x = block.follow(x, normed, before, new.visible, about, heard)
        found: Tensor = self._scorer.decoder.ln(x)
        return found

    def _of(self, new: NewNodes, tensor: Tensor) -> Tensor:
        """The rows of texts that grow; no copy where all do."""
        return tensor if len(new.texts) == len(tensor) else tensor[new.texts]

    def _make_room(self, nodes: int) -> None:
        """For so many nodes of each text; twice as many as there were at least."""
        missing = nodes - self._hidden.size(1)
        if missing <= 0:
            return
        room = max(missing, self._hidden.size(1))
        self._known = [(_longer(keys, room), _longer(values, room)) for keys, values in self._known]
        self._hidden = _longer(self._hidden, room)
        self._totals = functional.pad(self._totals, (0, room))

    @torch.inference_mode()
    def answer(self, questions: Sequence[Question]) -> list[float]:
        """Log-probabilities of tokens that may follow, after nodes that are scored."""
        if not questions:
            return []
        outputs = self._scorer.outputs
        asked = torch.tensor([[q.text, q.node, outputs[q.token]] for q in questions])
        texts, nodes, columns = asked.T.to(self._hidden.device)
        logits = (self._hidden[texts, nodes] * self._scorer.output[columns]).sum(-1)
        found: list[float] = (logits - self._totals[texts, nodes]).tolist()
        return found


def _heard(memory: Tensor, lengths: Tensor) -> Tensor | None:
    """(S, 1, 1, T): which frames of memory (S, T, D) are real; None where all are."""
    if bool((lengths == memory.size(1)).all()):
        return None
    return padding_mask(lengths.to(memory.device), memory.size(1))[:, None, None]


def _longer(tensor: Tensor, room: int) -> Tensor:
    """(..., N + room, W) of (..., N, W)."""
    return functional.pad(tensor, (0, 0, 0, room))
