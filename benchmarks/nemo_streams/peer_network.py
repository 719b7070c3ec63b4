"""Streaming transducers as NeMo exports them and sherpa-onnx runs them, over our weights.

Three networks: a chunk of the encoder, the predictor's next step, the joint at one frame. As in
NeMo's, caches are of the layers' inputs, not of keys and values: those of the whole left context
are projected anew in each chunk, and so are positions, twice as many as keys; the maps of a
convolution module are convolutions, and the joint projects both of its inputs at each evaluation. A
cache is full from the start, and a length says how much of it means something.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.convolution import Convolution
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.layer import FastConformerLayer
from earshot.models.fastconformer.relative_attention import MASKED, RelativeAttention
from earshot.models.fastconformer.steps.chunk_step import require_streamable
from earshot.models.layers.positional import positional_encoding
from earshot.models.transducer.predictor import PredictorState
from earshot.models.transducer.transducer import Transducer

MOST_POSITIONS = 1000
"""Keys at most; NeMo's table is longer."""


class PeerEncoder(nn.Module):
    """A chunk of B streams in one context; raises NotStreamable for an encoder without one.

    extra: frames of the stem ahead of a chunk's own, which hear the edge of its window. window:
    feature frames of a chunk, shift: by which it moves on.
    """

    table: Tensor

    def __init__(self, encoder: FastConformerEncoder, context: AttentionContext) -> None:
        super().__init__()
        require_streamable(encoder.config, context)
        self.encoder, self.left, self.chunk = encoder, context.left, context.right + 1
        rate = encoder.config.subsampling_factor
        self.extra = -(-encoder.pre_encode.window_before // rate)
        self.shift = rate * self.chunk
        self.window = self.shift + rate * (self.extra - 1) + 1
        distances = torch.arange(MOST_POSITIONS - 1, -MOST_POSITIONS, -1)
        self.register_buffer("table", positional_encoding(distances, encoder.config.size))

    def forward(
        self, audio_signal: Tensor, length: Tensor, channel: Tensor, time: Tensor, known: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """The peer's contract.

        audio_signal (B, F, W), of `length` (B,) frames each; channel (B, N, C, D), time
        (B, N, D, k - 1) and known (B,): the layers' inputs, what the convolutions heard, and how
        many frames of the first there are. Returns frames (B, D, chunk), their counts (B,), and the
        three as they are next.
        """
        x, counts = self.encoder.stem(audio_signal.transpose(1, 2), length)
        x, counts = x[:, self.extra :], (counts - self.extra).clamp(min=0)
        keys = x.size(1) + self.left
        seen, valid = self._masks(keys, counts + self.left, self.left - known)
        positions = self.table[MOST_POSITIONS - keys : MOST_POSITIONS + keys - 1]
        channels, times = [], []
        for index, layer in enumerate(self.encoder.layers):
            past = channel[:, index], time[:, index]
            x, inputs, gated = _advance(layer, x, past, positions, seen, valid)
            channels.append(inputs)
            times.append(gated)
        kept = (known + x.size(1)).clamp(max=self.left)
        frames = x.transpose(1, 2)[:, :, : self.chunk]
        caches = torch.stack(channels, 1), torch.stack(times, 1)
        return frames, counts.clamp(max=self.chunk), *caches, kept

    def _masks(self, keys: int, ends: Tensor, begins: Tensor) -> tuple[Tensor, Tensor]:
        """Which keys (B, T, K) each frame sees, and which frames (B, T) there are.

        begins, ends (B,): among all keys those that mean something.
        """
        place = torch.arange(keys)
        there = (place < ends.unsqueeze(1)) & (place >= begins.unsqueeze(1))
        chunks = torch.div(place, self.chunk, rounding_mode="trunc")
        behind = chunks.unsqueeze(1) - chunks.unsqueeze(0)
        near = (behind >= 0) & (behind <= self.left // self.chunk)
        seen = near & there.unsqueeze(1) & there.unsqueeze(2)
        return seen[:, self.left :], there[:, self.left :]


class PeerPredictor(nn.Module):
    """The predictor's answer to one label."""

    def __init__(self, head: Transducer) -> None:
        super().__init__()
        self.predictor = head.predictor

    def forward(
        self, targets: Tensor, target_length: Tensor, hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Labels (B, 1) int32 to (B, H, 1), their count, and the new state (N, B, H)."""
        said, state = self.predictor(targets[:, 0].long(), PredictorState(hidden, cell))
        return said.unsqueeze(2), target_length, state.hidden, state.cell


class PeerJoint(nn.Module):
    """The joint of frames (B, D, T) and labels (B, H, U): log-probabilities (B, T, U, V + 1)."""

    def __init__(self, head: Transducer) -> None:
        super().__init__()
        self.joint = head.joint

    def forward(self, encoder_outputs: Tensor, decoder_outputs: Tensor) -> Tensor:
        """As NeMo's, which takes the logarithm on a CPU."""
        frames = self.joint.encoder(encoder_outputs.transpose(1, 2)).unsqueeze(2)
        labels = self.joint.predictor(decoder_outputs.transpose(1, 2)).unsqueeze(1)
        return torch.log_softmax(self.joint(frames, labels), dim=-1)


def _advance(
    layer: nn.Module,
    x: Tensor,
    past: tuple[Tensor, Tensor],
    positions: Tensor,
    seen: Tensor,
    valid: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """One layer over x (B, T, D): its output, and both caches as they are next."""
    assert isinstance(layer, FastConformerLayer)
    x = x + 0.5 * layer.feed_forward1(layer.norm_feed_forward1(x))
    queries = layer.norm_self_att(x)
    memory = torch.cat((past[0], queries), dim=1)
    x = x + _attend(layer.self_attn, queries, memory, positions, seen)
    branch, gated = _convolve(layer.conv, layer.norm_conv(x), past[1], valid)
    x = x + branch
    x = x + 0.5 * layer.feed_forward2(layer.norm_feed_forward2(x))
    return layer.norm_out(x), memory[:, x.size(1) :], gated


def _attend(
    attention: RelativeAttention, x: Tensor, memory: Tensor, positions: Tensor, seen: Tensor
) -> Tensor:
    """Queries x (B, T, D), the last of memory (B, K, D); positions (2 K - 1, D)."""
    query = _heads(attention.linear_q(x), attention.heads)
    keys = _heads(attention.linear_k(memory), attention.heads).transpose(1, 2)
    values = _heads(attention.linear_v(memory), attention.heads).transpose(1, 2)
    places = _heads(attention.linear_pos(positions.unsqueeze(0)), attention.heads).transpose(1, 2)
    by_key = (query + attention.pos_bias_u).transpose(1, 2) @ keys.transpose(2, 3)
    by_place = (query + attention.pos_bias_v).transpose(1, 2) @ places.transpose(2, 3)
    scores = by_key + _shifted(by_place)[..., : memory.size(1)]
    unseen = ~seen.unsqueeze(1)
    scores = (scores / math.sqrt(query.size(-1))).masked_fill(unseen, MASKED)
    mixed = torch.softmax(scores, dim=-1).masked_fill(unseen, 0.0) @ values
    out: Tensor = attention.linear_out(mixed.transpose(1, 2).flatten(2))
    return out


def _heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, D) to (B, T, h, d_k)."""
    return x.view(x.size(0), x.size(1), heads, -1)


def _shifted(scores: Tensor) -> Tensor:
    """Scores (B, h, T, P) of distances, each row moved to its query's (Dai 2019, appendix B)."""
    batch, heads, queries, places = scores.shape
    padded = functional.pad(scores, (1, 0)).view(batch, heads, -1, queries)
    return padded[:, :, 1:].reshape(batch, heads, queries, places)


def _convolve(module: Convolution, x: Tensor, past: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    """From x (B, T, D) behind its cache (B, D, k - 1) to (B, T, D), and the new cache."""
    y = functional.glu(module.pointwise_conv1(x.transpose(1, 2)), dim=1)
    y = torch.cat((past, y.masked_fill(~valid.unsqueeze(1), 0.0)), dim=2)
    gated = y[:, :, -past.size(2) :]
    y = module.depthwise_conv(y)
    if isinstance(module.batch_norm, nn.BatchNorm1d):
        y = module.batch_norm(y)
    else:
        y = module.batch_norm(y.transpose(1, 2)).transpose(1, 2)
    return module.pointwise_conv2(functional.silu(y)).transpose(1, 2), gated
