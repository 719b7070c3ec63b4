"""Trees of sentences under the neural language model, by torch or natively."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from earshot.models.native.trees import NativeTrees
from earshot.models.native.weights import (
    feed_forward_weights,
    linear_weights,
    native,
    norm_weights,
    rows_weights,
    runs_natively,
)
from earshot.models.neural_lm.network import Block, NeuralLm
from earshot.models.token_tree import PackedTrees, TokenTree, batches
from earshot.models.tree_scorer import NodeScores, TreeScorer


class TorchSentenceTrees:
    """A `TreeScorer` on the device that the network is on."""

    def __init__(self, network: NeuralLm) -> None:
        self._network = network

    @torch.inference_mode()
    def __call__(
        self,
        trees: Sequence[TokenTree],
        end: int,
        memory: Tensor | None = None,
        lengths: Tensor | None = None,
    ) -> list[NodeScores]:
        """As `TreeScorer` says, without a memory; trees of similar size share a batch."""
        del memory, lengths
        scored: dict[int, NodeScores] = {}
        for numbers in batches(trees):
            packed = PackedTrees.of([trees[n] for n in numbers], self._network.bias.device)
            logits = self._network(packed.tokens, packed.depths, packed.visible)
            nodes, ends = packed.follow(logits.log_softmax(dim=-1), end)
            for number, own_nodes, own_ends in zip(numbers, nodes, ends, strict=True):
                size = len(trees[number])  # the rest is padding
                scored[number] = NodeScores(own_nodes[:size], own_ends[:size])
        return [scored[number] for number in range(len(trees))]


def sentence_trees(network: NeuralLm) -> TreeScorer:
    """The fastest for this network where it is; its weights must not change from now on."""
    if not runs_natively(network):
        return TorchSentenceTrees(network)
    return NativeTrees(
        network.embed_tokens,
        size=network.config.size,
        heads=network.config.heads,
        activation=native().Activation.gelu,
        layers=[_layer(block) for block in network.blocks],
        after_norm=norm_weights(network.norm),
        output=rows_weights(network.embed.weight, network.bias),
    )


def _layer(block: torch.nn.Module) -> Any:
    assert isinstance(block, Block)
    weights, shifts = block.qkv.weight.chunk(3), block.qkv.bias.chunk(3)
    attention = native().AttentionWeights(
        norm_weights(block.norm1),
        *map(rows_weights, weights, shifts),
        linear_weights(block.out),
        places=None,
    )
    feed_forward = feed_forward_weights(block.norm2, block.up, block.down)
    return native().TreeLayerWeights(past=attention, source=None, feed_forward=feed_forward)
