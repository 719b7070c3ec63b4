"""Trees of hypotheses under an attention decoder, by torch or natively."""

from __future__ import annotations

from torch import Tensor

from earshot.models import _native
from earshot.models.native.precision import Precision
from earshot.models.native.trees import NativeTrees
from earshot.models.native.weights import (
    attention_weights,
    feed_forward_weights,
    linear_weights,
    norm_weights,
    processors,
    runs_natively,
)
from earshot.models.token_tree import PackedTrees
from earshot.models.torch_trees import TorchTrees
from earshot.models.tree_scorer import TreeScorer
from earshot.models.u2.decoder import DecoderLayer, TransformerDecoder


def torch_decoder_trees(decoder: TransformerDecoder) -> TreeScorer:
    """By the decoder itself."""

    def follow(trees: PackedTrees, memory: Tensor | None, lengths: Tensor | None) -> Tensor:
        assert memory is not None
        assert lengths is not None
        return decoder.follow(memory, lengths, trees)

    return TorchTrees(follow, decoder.after_norm.weight.device)


def decoder_trees(decoder: TransformerDecoder, precision: Precision = "float32") -> TreeScorer:
    """The fastest for this decoder where it is; its weights must not change from now on.

    precision: of a native one.
    """
    if not runs_natively(decoder):
        return torch_decoder_trees(decoder)
    scores = _native.TreeScores(
        size=decoder.size,
        heads=decoder.layers[0].self_attn.heads,
        activation=_native.Activation.relu,
        layers=[_layer(layer, precision) for layer in decoder.layers],
        after_norm=norm_weights(decoder.after_norm),
        output=linear_weights(decoder.output_layer, precision),
        processor=processors()[0],
    )
    return NativeTrees(decoder.embed_tokens, scores)


def _layer(layer: DecoderLayer, precision: Precision) -> _native.TreeLayerWeights:
    branch = layer.feed_forward
    return _native.TreeLayerWeights(
        self_attention=attention_weights(layer.norm1, layer.self_attn, None, precision),
        cross_attention=attention_weights(layer.norm2, layer.src_attn, None, precision),
        feed_forward=feed_forward_weights(layer.norm3, branch.w_1, branch.w_2, precision),
    )
