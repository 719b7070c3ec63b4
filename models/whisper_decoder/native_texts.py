"""Growing texts scored natively on a CPU: `csrc/texts/growing_trees.h`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from earshot.models import _native
from earshot.models.native.given_up import copy_and_free
from earshot.models.native.late_weights import bring_weights
from earshot.models.native.precision import Precision
from earshot.models.native.weights import (
    feed_forward_weights,
    linear_weights,
    norm_weights,
    processors,
    rows_weights,
)
from earshot.models.whisper_decoder.growing_texts import (
    GrowingText,
    Listening,
    Question,
    begun,
    tell,
)
from earshot.models.whisper_decoder.network import (
    WhisperAttention,
    WhisperDecoder,
    WhisperDecoderBlock,
)
from earshot.models.whisper_decoder.token_rows import TokenRows
from earshot.native.dlpack import dlpack_capsule


class NativeTexts:
    """A `TextScorer`, see there; the decoder's weights must not change from now on.

    kept: the tokens that texts may be made of; probabilities are shares of theirs. best: how many
    of the likeliest are told of each node. precision: in which layers are multiplied. silence:
    (W, D) of a silent window, of which memories that are shorter get the rest.
    """

    def __init__(
        self,
        decoder: WhisperDecoder,
        kept: Sequence[int],
        best: int,
        precision: Precision = "float32",
        silence: Tensor | None = None,
    ) -> None:
        self.decoder = decoder
        self.kept = list(kept)
        self.best = best
        self.outputs = {token: output for output, token in enumerate(self.kept)}
        self.network = _native.GrowingTrees(
            size=decoder.config.size,
            heads=decoder.config.attention_heads,
            activation=_native.Activation.gelu,
            after_norm=norm_weights(decoder.ln),
            silence=None if silence is None else dlpack_capsule(silence.contiguous()),
            processor=processors()[0],
        )
        for block in decoder.layers:
            self.network.add(copy_and_free(block, lambda own: _layer(own, precision)))
        bring_weights(decoder.token_embedding)
        for rows in torch.split(torch.tensor(self.kept), _native.OUTPUTS_IN_BLOCK):
            output = decoder.token_embedding.weight[rows]
            self.network.add_output(rows_weights(output, None, precision))
        self._rows = copy_and_free(decoder.token_embedding, lambda own: TokenRows(own.weight))

    def embedded(self, tokens: Tensor, depths: Tensor) -> Tensor:
        """What the first block hears of tokens (N,) at positions (N,): (N, D)."""
        return self._rows(tokens) + self.decoder.positional_embedding[depths]

    @torch.inference_mode()
    def listen(self, memory: Tensor, lengths: Tensor) -> Listening:
        """Begin texts about memory (S, T, D) with lengths (S,)."""
        rows = [row[:n].contiguous() for row, n in zip(memory, lengths.tolist(), strict=True)]
        trees = [self.network.listen(dlpack_capsule(row)) for row in rows]
        return _NativeListening(self, trees)


class _NativeListening:
    """See `Listening`."""

    def __init__(self, scorer: NativeTexts, trees: list[_native.GrownTree]) -> None:
        self._scorer = scorer
        self._trees = trees
        self.texts = begun(scorer.decoder.config.prompt, len(trees))

    @torch.inference_mode()
    def score(self) -> None:
        """Fill in `likely` of all nodes that were added."""
        scorer = self._scorer
        counts = [len(text) - text.scored for text in self.texts]
        if not any(counts):
            return
        best_outputs = torch.empty(sum(counts), scorer.best, dtype=torch.int64)
        best_scores = torch.empty(sum(counts), scorer.best)
        first_chains, starts, steps, paths = map(dlpack_capsule, _chains(self.texts))
        scorer.network.grow(
            self._trees,
            dlpack_capsule(self._embedded()),
            dlpack_capsule(torch.tensor([0, *accumulate(counts)])),
            first_chains,
            starts,
            steps,
            paths,
            dlpack_capsule(best_outputs),
            dlpack_capsule(best_scores),
            torch.get_num_threads(),
        )
        tell(self.texts, scorer.kept, best_outputs.tolist(), best_scores.tolist())

    def _embedded(self) -> Tensor:
        """(N, D) of all new nodes."""
        new = [(text, slice(text.scored, None)) for text in self.texts]
        tokens = torch.tensor([token for text, part in new for token in text.tokens[part]])
        depths = torch.tensor([depth for text, part in new for depth in text.depths[part]])
        return self._scorer.embedded(tokens, depths)

    def answer(self, questions: Sequence[Question]) -> list[float]:
        """Log-probabilities of tokens that may follow, after nodes that are scored."""
        if not questions:
            return []
        scores = torch.empty(len(questions))
        outputs = self._scorer.outputs
        asked = ([q.text, q.node, outputs[q.token]] for q in questions)
        owners, nodes, columns = torch.tensor(list(asked)).T.contiguous()
        self._scorer.network.answer(
            self._trees, *map(dlpack_capsule, (owners, nodes, columns, scores))
        )
        found: list[float] = scores.tolist()
        return found


def _chains(texts: Sequence[GrowingText]) -> tuple[Tensor, ...]:
    """First chain of each text, first rows, first steps and paths of all chains of new nodes."""
    starts: list[int] = []
    first_chains, first_steps, paths = [0], [0], []
    first_row = 0
    for text in texts:
        begins = [n for n in range(text.scored, len(text)) if _begins_chain(text, n)]
        for begin, stop in zip(begins, [*begins[1:], len(text)], strict=False):
            starts.append(first_row + begin - text.scored)
            paths += text.path(stop - 1)
            first_steps.append(len(paths))
        first_row += len(text) - text.scored
        first_chains.append(len(starts))
    listed = (first_chains, starts, first_steps, paths)
    return tuple(torch.tensor(each, dtype=torch.int64) for each in listed)


def _begins_chain(text: GrowingText, node: int) -> bool:
    return node == text.scored or text.parents[node] != node - 1


def _layer(block: WhisperDecoderBlock, precision: Precision) -> _native.TreeLayerWeights:
    up, down = block.mlp[0], block.mlp[2]
    assert isinstance(up, torch.nn.Linear)
    assert isinstance(down, torch.nn.Linear)
    return _native.TreeLayerWeights(
        self_attention=_attention(block.attn_ln, block.attn, precision),
        cross_attention=_attention(block.cross_attn_ln, block.cross_attn, precision),
        feed_forward=feed_forward_weights(block.mlp_ln, up, down, precision),
    )


def _attention(
    norm: torch.nn.Module, attention: WhisperAttention, precision: Precision
) -> _native.AttentionWeights:
    layers = (attention.query, attention.key, attention.value, attention.out)
    query, key, value, out = (linear_weights(layer, precision) for layer in layers)
    return _native.AttentionWeights(norm_weights(norm), query, key, value, out, pos=None)
