"""U2 encoder: whole utterances, one stream chunk by chunk, or many streams at once."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from earshot.models.config import EncoderConfig
from earshot.models.errors import NotStreamable
from earshot.models.layers.cmvn import GlobalCmvn
from earshot.models.layers.dropout import Dropout
from earshot.models.layers.encoder_layer import EncoderLayer, build_layer
from earshot.models.layers.masks import chunk_mask, padding_mask
from earshot.models.layers.positional import positional_encoding
from earshot.models.layers.subsampling import STEM_SHAPES, build_stem
from earshot.models.u2.lanes import (
    EncoderState,
    LaneContext,
    LaneStep,
    LaneUpdate,
    advance_layer,
    with_room,
)
from earshot.models.u2.streaming_encoder import StreamingEncoder

Stem = Callable[[Tensor], Tensor]
"""Normalised features (B, W, F) to (B, T, D)."""


class Encoder(StreamingEncoder):
    """A stem, then conformer or transformer blocks whose attention sees whole chunks."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.stem_shape = STEM_SHAPES[config.input_layer]
        self.output_size = config.output_size
        self.global_cmvn = GlobalCmvn(config.input_dim)
        self.embed = build_stem(config.input_layer, config.input_dim, config.output_size)
        self.positional_dropout = Dropout(config.positional_dropout_rate)
        self.encoders = nn.ModuleList(build_layer(config) for _ in range(config.num_blocks))
        self.after_norm = nn.LayerNorm(config.output_size, eps=config.norm_eps)

    @property
    def layers(self) -> list[EncoderLayer]:
        """The blocks, first to last."""
        return [layer for layer in self.encoders if isinstance(layer, EncoderLayer)]

    def forward(
        self, feats: Tensor, lengths: Tensor, chunk_size: int = -1, num_left_chunks: int = -1
    ) -> tuple[Tensor, Tensor]:
        """Whole utterances, for training and for reference.

        feats (B, T, F) padded on the right to lengths (B,); `chunk_size` in encoder frames, -1 for
        full context (or the chunk of a model that knows only one), `num_left_chunks` -1 for all.
        Returns (B, T', D) and the valid lengths (B,).
        """
        out_lengths = self.output_lengths(lengths)
        x = self.embed_features(feats, None)
        mask, valid = self._masks(x, out_lengths, chunk_size, num_left_chunks)
        positions = self.key_positions(torch.arange(x.size(1), device=x.device).unsqueeze(0))
        for layer in self.layers:
            x = layer(x, mask, positions, valid)
        return self.after_norm(x), out_lengths

    def embed_features(
        self, feats: Tensor, offset: Tensor | None, stem: Stem | None = None
    ) -> Tensor:
        """Normalise, subsample, scale; add absolute positions from `offset` (B,) where used.

        stem: one that stands in for the encoder's own.
        """
        x: Tensor = (stem or self.embed)(self.global_cmvn(feats))
        if self.config.positions == "no_pos":
            return x
        x = x * math.sqrt(self.output_size)
        if self.config.positions == "abs_pos":
            frames = torch.arange(x.size(1), device=x.device).unsqueeze(0)
            frames = frames if offset is None else frames + offset.unsqueeze(1)
            x = x + positional_encoding(frames, self.output_size)
        dropped: Tensor = self.positional_dropout(x)
        return dropped

    def key_positions(self, frames: Tensor) -> Tensor | None:
        """Sinusoids (…, T, D) for attention with positional keys."""
        if self.config.positions != "rel_pos":
            return None
        return positional_encoding(frames, self.output_size)

    def _masks(
        self, x: Tensor, out_lengths: Tensor, chunk_size: int, num_left_chunks: int
    ) -> tuple[Tensor | None, Tensor | None]:
        """Attention mask (1 or B, 1, 1 or T', T') and valid frames (B, T', 1); None = all."""
        frames = x.size(1)
        if chunk_size <= 0 and not self.config.use_dynamic_chunk:
            chunk_size = self.config.static_chunk_size
        mask = valid = None
        if bool((out_lengths < frames).any()):
            valid = padding_mask(out_lengths, frames)
            mask = valid[:, None, None]
        if 0 < chunk_size < frames:
            chunks = chunk_mask(frames, chunk_size, num_left_chunks, x.device)[None, None]
            mask = chunks if mask is None else mask & chunks
        return mask, None if valid is None else valid.unsqueeze(2)

    def forward_chunk(
        self,
        xs: Tensor,
        offset: int,
        required_cache_size: int,
        att_cache: Tensor,
        cnn_cache: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """One chunk of one stream, WeNet's contract.

        xs (1, W, F); `offset`: encoder frames already put out; `required_cache_size`: frames of
        left context to keep, 0 none, negative all. att_cache (L, h, C, 2 d_k) holds keys and
        values, (0, 0, 0, 0) at the start; cnn_cache (L, 1, D, k - 1) likewise, (L, 0, 0, 0) in
        models without causal convolution. Returns the output (1, T', D) and both new caches.

        Raises NotStreamable for a model that was not trained in chunks.
        """
        self._require_streamable()
        if xs.size(0) != 1:
            raise ValueError(f"forward_chunk takes one stream, not {xs.size(0)}")
        first = torch.tensor([offset], device=xs.device)
        x = self.embed_features(xs, first)
        cached = att_cache.size(2)
        frames = torch.arange(-cached, x.size(1), device=xs.device) + offset
        positions = self.key_positions(frames.clamp(min=0).unsqueeze(0))
        att_caches, cnn_caches = [], []
        for i, layer in enumerate(self.layers):
            past_att = att_cache[i : i + 1] if cached else None
            past_cnn = cnn_cache[i] if cnn_cache.size(0) else None
            x, att, cnn = step_layer(layer, x, positions, past_att, past_cnn)
            att_caches.append(att[:, :, first_kept(att.size(2), required_cache_size) :])
            cnn_caches.append(cnn.unsqueeze(0))
        return self.after_norm(x), torch.cat(att_caches), torch.cat(cnn_caches)

    def initial_state(
        self, lanes: int, cache_frames: int, device: torch.device | str = "cpu"
    ) -> EncoderState:
        """State of `lanes` streams that have not begun, keeping `cache_frames` of left context."""
        config = self.config
        layers, heads, size = config.num_blocks, config.attention_heads, config.output_size
        columns = config.cnn_module_kernel - 1 if config.has_convolution and config.causal else 0
        counts = torch.zeros(lanes, dtype=torch.int64, device=device)
        dtype = self.after_norm.weight.dtype
        att_shape = (lanes, layers, heads, cache_frames + 1, 2 * (size // heads) + 1)
        cnn_shape = (lanes, layers, columns, size)
        return EncoderState(
            offset=counts,
            cache_length=counts.clone(),
            att_cache=torch.zeros(att_shape, dtype=dtype, device=device),
            cnn_cache=torch.zeros(cnn_shape, dtype=dtype, device=device),
        )

    def forward_lanes(
        self, feats: Tensor, out_lengths: Tensor, context: LaneContext
    ) -> tuple[Tensor, LaneUpdate]:
        """Run one step of some lanes, see `StreamingEncoder.forward_lanes`.

        Each lane's result is that of `forward_chunk` on it alone with `required_cache_size` = the
        state's capacity.

        Raises NotStreamable for a model that was not trained in chunks.
        """
        self._require_streamable()
        x = self.embed_features(feats, context.offset)
        frames, columns = x.size(1), context.cnn_cache.size(2)
        step = self._lane_step(out_lengths, context)
        cnn_cache = with_room(context.cnn_cache, frames)
        for i, layer in enumerate(self.layers):
            x = advance_layer(layer, x, step, context.att_columns[:, i], cnn_cache[:, i])
        update = LaneUpdate(
            out_lengths=out_lengths,
            att_columns=context.att_columns[:, :, :, -frames:],
            cnn_cache=step.last_columns(cnn_cache, columns),
        )
        return self.after_norm(x), update

    def _lane_step(self, out_lengths: Tensor, context: LaneContext) -> LaneStep:
        new = torch.arange(context.room, device=out_lengths.device)
        return LaneStep(
            out_lengths=out_lengths,
            key_mask=context.key_mask(out_lengths),
            positions=self.key_positions(new + context.offset.unsqueeze(1)),
            ragged=bool((out_lengths < context.room).any()),
        )

    def _require_streamable(self) -> None:
        if not self.config.streamable:
            raise NotStreamable("this encoder was trained on whole utterances, not on chunks")


def first_kept(columns: int, required_cache_size: int) -> int:
    """Index of the first cache column to keep; see `forward_chunk`."""
    if required_cache_size < 0:
        return 0
    return max(columns - required_cache_size, 0)


def step_layer(
    layer: EncoderLayer,
    x: Tensor,
    positions: Tensor | None,
    att_cache: Tensor | None,
    cnn_cache: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """One layer of `forward_chunk`: x (1, T', D), positions of all keys (1, C + T', D).

    Returns the output, keys and values of all C + T' frames and the convolution's cache.
    """
    x = layer.before_attention(x)
    attention = layer.self_attn
    normed = layer.attention_input(x)
    memory = torch.cat(attention.project_memory(normed), dim=-1)
    if att_cache is not None:
        memory = torch.cat((att_cache, memory), dim=2)
    keys, values = memory.chunk(2, dim=-1)
    keys, bias = attention.positional_keys(keys, positions)
    mask = attention.score_mask(bias, None)
    x = layer.add(x, attention.attend(attention.project_query(normed), keys, values, mask))
    new_cnn_cache = x.new_zeros(0, 0, 0)
    if layer.conv_module is not None:
        branch, new_cnn_cache = layer.conv_module.step(layer.convolution_input(x), cnn_cache)
        x = layer.add(x, branch)
    return layer.after_convolution(x), memory, new_cnn_cache
