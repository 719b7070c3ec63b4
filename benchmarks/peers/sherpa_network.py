"""One chunk of an Earshot encoder and its CTC head, as sherpa-onnx's online wenet-ctc models do it.

Unlike `Encoder.forward_chunk` its caches are full from the first chunk on, and a mask says which of
their columns mean something. Attention and convolution are written out here, so that the graph of
the peer has no operation that it does not need.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.layers.attention import MASKED, MultiHeadAttention
from earshot.models.layers.convolution import ConvolutionModule
from earshot.models.layers.encoder_layer import EncoderLayer
from earshot.models.layers.positional import positional_encoding
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.u2 import U2Model

MAX_FRAMES = 20_000
"""Encoder frames for which there are positions, 13 minutes at 40 ms."""


class NotExportable(ValueError):
    """The peer has no such network."""


class WenetCtcChunk(nn.Module):
    """Causal conformer blocks with or without WeNet's positions, on one stream.

    chunk: encoder frames of a chunk. Raises NotExportable for other networks.
    """

    table: Tensor

    def __init__(self, model: U2Model, chunk: int) -> None:
        super().__init__()
        self.encoder = conformer_of(model)
        self.ctc, self.chunk = model.ctc, chunk
        size = self.encoder.output_size
        self.register_buffer("table", positional_encoding(torch.arange(MAX_FRAMES), size))

    def forward(
        self,
        x: Tensor,
        offset: Tensor,
        required_cache_size: Tensor,
        attn_cache: Tensor,
        conv_cache: Tensor,
        attn_mask: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The peer's contract.

        x (1, W, F); offset (1,): of the chunk's first frame, where the stream began at
        required_cache_size (1,) = C; attn_cache (L, h, C, 2 d_k), conv_cache (L, 1, D, k - 1);
        attn_mask (1, 1, C + chunk): True where a key means something. Returns log-probabilities
        (1, chunk, V) and both new caches.
        """
        encoded = self.encoder.embed_features(x, None)
        begins = offset - required_cache_size
        positions = self._positions(begins, attn_cache.size(2))
        if positions is None:  # an input that nothing uses would not be in the graph
            encoded = encoded + 0.0 * begins.to(encoded.dtype)
        att_caches, conv_caches = [], []
        for index, layer in enumerate(self.encoder.layers):
            past = attn_cache[index : index + 1], conv_cache[index]
            encoded, att, conv = step(layer, encoded, past, positions, attn_mask.unsqueeze(1))
            att_caches.append(att[:, :, self.chunk :])
            conv_caches.append(conv.unsqueeze(0))
        log_probs = self.ctc(self.encoder.after_norm(encoded))
        return log_probs, torch.cat(att_caches), torch.cat(conv_caches)

    def _positions(self, begins: Tensor, cached: int) -> Tensor | None:
        """Those of all keys (1, C + chunk, D)."""
        if self.encoder.config.positions == "no_pos":
            return None
        return self.table.index_select(0, begins + torch.arange(cached + self.chunk)).unsqueeze(0)


def conformer_of(model: U2Model) -> Encoder:
    """Its encoder; raises NotExportable for one that the contract has no place for."""
    encoder = model.encoder
    if not encoder.config.has_convolution:
        raise NotExportable("only conformers with convolutions are exported")
    if not encoder.config.streamable or encoder.config.positions == "abs_pos":
        raise NotExportable("only streaming conformers without absolute positions are exported")
    return encoder


def step(
    layer: EncoderLayer,
    x: Tensor,
    past: tuple[Tensor, Tensor],
    positions: Tensor | None,
    seen: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """One block: x (1, T, D), caches, and of all keys positions (1, C + T, D) and mask.

    Returns the output, keys and values of all keys, and the convolution's cache.
    """
    assert layer.conv_module is not None
    x = layer.before_attention(x)
    branch, memory = attend(layer.self_attn, layer.attention_input(x), past[0], positions, seen)
    x = layer.add(x, branch)
    branch, columns = convolve(layer.conv_module, layer.convolution_input(x), past[1])
    return layer.after_convolution(layer.add(x, branch)), memory, columns


def attend(
    attention: MultiHeadAttention, x: Tensor, past: Tensor, positions: Tensor | None, seen: Tensor
) -> tuple[Tensor, Tensor]:
    """From x (1, T, D) to (1, T, D), and keys and values (1, h, C + T, 2 d_k)."""
    memory = torch.cat((past, torch.cat(attention.project_memory(x), dim=-1)), dim=2)
    keys, values = memory.chunk(2, dim=-1)
    keys, bias = attention.positional_keys(keys, positions)
    scores = attention.project_query(x) @ keys.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias.unsqueeze(2)
    scores = (scores / math.sqrt(attention.head_size)).masked_fill(~seen, MASKED)
    mixed = torch.softmax(scores, dim=-1) @ values
    out: Tensor = attention.linear_out(mixed.transpose(1, 2).flatten(2))
    return out, memory


def convolve(module: ConvolutionModule, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
    """From x (1, T, D) after its cache (1, D, k - 1) to (1, T, D), and the new cache."""
    joined = torch.cat((past.transpose(1, 2), x), dim=1)
    y = module.depthwise_conv(module.gate(joined).transpose(1, 2))
    if isinstance(module.norm, nn.BatchNorm1d):
        y = module.norm(y).transpose(1, 2)
    else:
        y = module.norm(y.transpose(1, 2))
    last = module.pointwise_conv2
    out = functional.linear(module.activation(y), last.weight.squeeze(-1), last.bias)
    return out, joined[:, x.size(1) :].transpose(1, 2)
