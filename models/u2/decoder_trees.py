"""Trees of hypotheses under an attention decoder, by torch or natively."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from earshot.models.native.trees import NativeTrees
from earshot.models.native.weights import (
    attention_weights,
    feed_forward_weights,
    linear_weights,
    native,
    norm_weights,
    runs_natively,
)
from earshot.models.token_tree import PackedTrees, TokenTree, batches
from earshot.models.tree_scorer import NodeScores, TreeScorer
from earshot.models.u2.decoder import DecoderLayer, TransformerDecoder


class TorchDecoderTrees:
    """A `TreeScorer` on the device that the decoder is on."""

    def __init__(self, decoder: TransformerDecoder) -> None:
        self._decoder = decoder

    @torch.inference_mode()
    def __call__(
        self,
        trees: Sequence[TokenTree],
        end: int,
        memory: Tensor | None = None,
        lengths: Tensor | None = None,
    ) -> list[NodeScores]:
        """As `TreeScorer` says; trees of similar size share a batch."""
        assert memory is not None
        assert lengths is not None
        scored: dict[int, NodeScores] = {}
        for numbers in batches(trees):
            rows = torch.tensor(numbers, device=memory.device)
            own = lengths[rows]
            packed = PackedTrees.of([trees[number] for number in numbers], memory.device)
            logits = self._decoder.follow(memory[rows, : int(own.max())], own, packed)
            nodes, ends = packed.follow(logits.float().log_softmax(-1), end)
            for number, own_nodes, own_ends in zip(numbers, nodes, ends, strict=True):
                size = len(trees[number])  # the rest is padding
                scored[number] = NodeScores(own_nodes[:size], own_ends[:size])
        return [scored[number] for number in range(len(trees))]


def decoder_trees(decoder: TransformerDecoder) -> TreeScorer:
    """The fastest for this decoder where it is; its weights must not change from now on."""
    if not runs_natively(decoder):
        return TorchDecoderTrees(decoder)
    return NativeTrees(
        decoder.embed_tokens,
        size=decoder.size,
        heads=decoder.layers[0].self_attn.heads,
        activation=native().Activation.relu,
        layers=[_layer(layer) for layer in decoder.layers],
        after_norm=norm_weights(decoder.after_norm),
        output=linear_weights(decoder.output_layer),
    )


def _layer(layer: DecoderLayer) -> Any:
    branch = layer.feed_forward
    return native().TreeLayerWeights(
        past=attention_weights(layer.norm1, layer.self_attn),
        source=attention_weights(layer.norm2, layer.src_attn),
        feed_forward=feed_forward_weights(layer.norm3, branch.w_1, branch.w_2),
    )
