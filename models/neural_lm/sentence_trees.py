"""Trees of sentences under the neural language model, by torch or natively."""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models import _native
from earshot.models.native.precision import Precision
from earshot.models.native.trees import NativeTrees
from earshot.models.native.weights import (
    feed_forward_weights,
    linear_weights,
    norm_weights,
    processors,
    rows_weights,
    runs_natively,
)
from earshot.models.neural_lm.network import Block, NeuralLm
from earshot.models.token_tree import PackedTrees
from earshot.models.torch_trees import TorchTrees
from earshot.models.tree_scorer import TreeScorer


def torch_sentence_trees(network: NeuralLm) -> TreeScorer:
    """By the network itself; there is no memory."""

    def follow(trees: PackedTrees, memory: Tensor | None, lengths: Tensor | None) -> Tensor:
        del memory, lengths
        logits: Tensor = network(trees.tokens, trees.depths, trees.visible)
        return logits

    return TorchTrees(follow, network.bias.device)


def sentence_trees(network: NeuralLm, precision: Precision = "float32") -> TreeScorer:
    """The fastest for this network where it is; its weights must not change from now on.

    precision: of a native one.
    """
    if not runs_natively(network):
        return torch_sentence_trees(network)
    scores = _native.TreeScores(
        size=network.config.size,
        heads=network.config.heads,
        activation=_native.Activation.gelu,
        layers=[_layer(block, precision) for block in network.blocks],
        after_norm=norm_weights(network.norm),
        output=rows_weights(network.embed.weight, network.bias, precision),
        processor=processors()[0],
    )
    return NativeTrees(network.embed_tokens, scores)


def _layer(block: torch.nn.Module, precision: Precision) -> _native.TreeLayerWeights:
    assert isinstance(block, Block)
    weights, shifts = block.qkv.weight.chunk(3), block.qkv.bias.chunk(3)
    query, key, value = (
        rows_weights(weight, shift, precision)
        for weight, shift in zip(weights, shifts, strict=True)
    )
    attention = _native.AttentionWeights(
        norm_weights(block.norm1),
        query,
        key,
        value,
        linear_weights(block.out, precision),
        pos=None,
    )
    feed_forward = feed_forward_weights(block.norm2, block.up, block.down, precision)
    return _native.TreeLayerWeights(
        self_attention=attention, cross_attention=None, feed_forward=feed_forward
    )
