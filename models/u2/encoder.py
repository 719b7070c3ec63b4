"""U2 encoder: whole utterances, one stream chunk by chunk, or many streams at once."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.config import EncoderConfig
from earshot.models.errors import NotStreamable
from earshot.models.layers.cmvn import GlobalCmvn
from earshot.models.layers.dropout import Dropout
from earshot.models.layers.encoder_layer import EncoderLayer, build_layer
from earshot.models.layers.masks import chunk_mask, padding_mask
from earshot.models.layers.positional import positional_encoding, whisper_positions
from earshot.models.layers.subsampling import build_stem, encoder_shape
from earshot.models.layers.whisper_stem import PAST, WhisperStem
from earshot.models.u2.lanes import (
    EncoderState,
    LaneContext,
    LaneStep,
    LaneUpdate,
    advance_layer,
    column_width,
    in_order,
    in_rows,
    with_room,
)
from earshot.models.u2.stages import Stage, encoder_stages

Stem = Callable[[Tensor, Tensor], Tensor]
"""Normalised features (B, P + W, F), and which rows begin a segment (B,), to (B, T, D)."""

PLACED = {"abs_pos": positional_encoding, "whisper": whisper_positions}
"""Positions that are added to the stem's frames."""


class Encoder(nn.Module):
    """A stem, then stages of conformer or transformer blocks whose attention sees whole chunks.

    Features (B, T, F) in, frames (B, T', D) out, T' about T / subsampling_rate. A chunk of n frames
    needs (n - 1) * subsampling_rate + right_context + 1 feature frames; the next chunk's features
    start n * subsampling_rate later. A last frame that has no other to become a mean with is not
    put out, and no block sees it.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.stem_shape = encoder_shape(config)
        self.stages = encoder_stages(config)
        self.output_size = config.encoded_size
        self.global_cmvn = GlobalCmvn(config.input_dim)
        self.embed = build_stem(config.input_layer, config.input_dim, config.output_size)
        self.positional_dropout = Dropout(config.positional_dropout_rate)
        self.encoders = nn.ModuleList(build_layer(config) for _ in range(config.num_blocks))
        self.after_norm = nn.LayerNorm(config.output_size, eps=config.norm_eps)
        self.narrow: nn.Linear | None = None
        if config.narrow is not None:
            self.narrow = nn.Linear(config.output_size, config.narrow)

    @property
    def hears_past(self) -> bool:
        """Whether the stem sees features before its window, which `cnn_cache` then holds."""
        return isinstance(self.embed, WhisperStem)

    @property
    def subsampling_rate(self) -> int:
        """Feature frames per encoder frame."""
        return self.stem_shape.rate

    @property
    def right_context(self) -> int:
        """Feature frames after an output's first that it needs whatever the chunk."""
        return self.stem_shape.right_context

    def output_lengths(self, lengths: Tensor) -> Tensor:
        """Encoder frames for `lengths` (B,) feature frames."""
        return self.stem_shape.output_lengths(lengths)

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
        x, out_lengths = self.forward_wide(feats, lengths, chunk_size, num_left_chunks)
        return self.narrowed(x), out_lengths

    def forward_wide(
        self, feats: Tensor, lengths: Tensor, chunk_size: int = -1, num_left_chunks: int = -1
    ) -> tuple[Tensor, Tensor]:
        """`forward` without the layer `narrow`: frames as wide as the blocks."""
        if chunk_size <= 0 and not self.config.use_dynamic_chunk:
            chunk_size = self.config.static_chunk_size
        out_lengths = self.output_lengths(lengths)
        x = self.embed_features(feats, None)
        for stage in self.stages:
            x = stage.enter(x)
            rate = stage.rate
            mask, valid = _masks(x, out_lengths * rate, chunk_size * rate, num_left_chunks)
            positions = self.key_positions(torch.arange(x.size(1), device=x.device).unsqueeze(0))
            for layer in self.layers_of(stage):
                x = layer(x, mask, positions, valid)
        return self.after_norm(x), out_lengths

    def layers_of(self, stage: Stage) -> list[EncoderLayer]:
        """A stage's blocks, first to last."""
        return self.layers[stage.layers.start : stage.layers.stop]

    def narrowed(self, x: Tensor) -> Tensor:
        """What is put out of frames (…, D) as wide as the blocks."""
        if self.narrow is None:
            return x
        narrow: Tensor = self.narrow(x)
        return narrow

    def heard(self, feats: Tensor, past: Tensor | None) -> Tensor:
        """Normalised features (B, P + W, F) of a window (B, W, F) and of what it sees before.

        past (B, 1, P, F): the part of `cnn_cache` that says so; None at the beginning. P is 0 but
        for Whisper's stem.
        """
        features: Tensor = self.global_cmvn(feats)
        if not self.hears_past:
            return features
        if past is None:
            return functional.pad(features, (0, 0, PAST, 0))
        return torch.cat((past.squeeze(1), features), dim=1)

    def embed_features(self, feats: Tensor, offset: Tensor | None) -> Tensor:
        """`embed_heard` of features (B, W, F) with nothing before them."""
        return self.embed_heard(self.heard(feats, None), offset)

    def embed_heard(self, heard: Tensor, offset: Tensor | None, stem: Stem | None = None) -> Tensor:
        """Subsample, scale; add absolute positions from `offset` (B,) where used.

        heard (B, P + W, F) as `heard` gives it. offset: encoder frames put out before, None for
        nothing. stem: one that stands in for the encoder's own. Returns the first stage's frames.
        """
        if offset is None:
            offset = heard.new_zeros(len(heard), dtype=torch.int64)
        x = stem(heard, offset == 0) if stem else self._subsampled(heard, offset == 0)
        rate, size = self.stages[0].rate, self.config.output_size
        x = x[:, : x.size(1) // rate * rate]
        if self.config.positions == "no_pos":
            return x
        if self.config.positions != "whisper":
            x = x * math.sqrt(size)
        if self.config.positions in PLACED:
            frames = torch.arange(x.size(1), device=x.device) + (rate * offset).unsqueeze(1)
            x = x + PLACED[self.config.positions](frames, size)
        dropped: Tensor = self.positional_dropout(x)
        return dropped

    def _subsampled(self, heard: Tensor, begins: Tensor) -> Tensor:
        x: Tensor = self.embed(heard, begins) if self.hears_past else self.embed(heard)
        return x

    def key_positions(self, frames: Tensor) -> Tensor | None:
        """Sinusoids (…, T, D) for attention with positional keys."""
        if self.config.positions != "rel_pos":
            return None
        return positional_encoding(frames, self.config.output_size)

    def past_of_next(self, heard: Tensor, out_lengths: Tensor) -> Tensor:
        """What Whisper's stem sees again (B, 1, P, F) after so many frames (B,) of each row."""
        place = self.subsampling_rate * out_lengths.unsqueeze(1)
        place = place + torch.arange(PAST, device=heard.device)
        return heard.gather(1, place.unsqueeze(2).expand(-1, -1, heard.size(2))).unsqueeze(1)

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
        left context to keep, 0 none, negative all. att_cache (R, h, C, 2 d_k) holds keys and
        values, (0, 0, 0, 0) at the start, with the rows R of `EncoderState`; cnn_cache
        (L, 1, D, k - 1) likewise, (L, 0, 0, 0) in models without causal convolution, (1, 1, F, 2)
        of Whisper's stem. Returns the output (1, T', D) and both new caches.

        Raises NotStreamable for a model that was not trained in chunks.
        """
        self._require_streamable()
        if xs.size(0) != 1:
            raise ValueError(f"forward_chunk takes one stream, not {xs.size(0)}")
        heard = self.heard(xs, cnn_cache.transpose(2, 3) if cnn_cache.size(0) else None)
        x = self.embed_heard(heard, torch.tensor([offset], device=xs.device))
        att_caches, cnn_caches = [], []
        for stage in self.stages:
            x = stage.enter(x)
            positions = self._chunk_positions(stage, offset, att_cache.size(2), x)
            for i, layer in zip(stage.layers, self.layers_of(stage), strict=True):
                old_att = in_order(att_cache[None, stage.rows(i)]) if att_cache.size(2) else None
                old_cnn = cnn_cache[i] if layer.conv_module and cnn_cache.size(0) else None
                x, att, cnn = step_layer(layer, x, positions, old_att, old_cnn)
                rows = in_rows(att, stage.rate)[0]
                att_caches.append(rows[:, :, first_kept(rows.size(2), required_cache_size) :])
                cnn_caches.append(cnn.unsqueeze(0))
        if self.hears_past:
            count = torch.tensor([x.size(1)], device=x.device)
            cnn_caches = [self.past_of_next(heard, count).transpose(2, 3)]
        return self.narrowed(self.after_norm(x)), torch.cat(att_caches), torch.cat(cnn_caches)

    def _chunk_positions(self, stage: Stage, offset: int, cached: int, x: Tensor) -> Tensor | None:
        frames = torch.arange(-cached * stage.rate, x.size(1), device=x.device)
        return self.key_positions((frames + offset * stage.rate).clamp(min=0).unsqueeze(0))

    def initial_state(
        self, lanes: int, cache_frames: int, device: torch.device | str = "cpu"
    ) -> EncoderState:
        """State of `lanes` streams that have not begun, keeping `cache_frames` of left context."""
        config = self.config
        heads, size = config.attention_heads, config.output_size
        counts = torch.zeros(lanes, dtype=torch.int64, device=device)
        dtype = self.after_norm.weight.dtype
        rows = self.stages[-1].end_row
        width = column_width(size // heads, dtype, counts.device)
        att_shape = (lanes, rows, heads, cache_frames + 1, width)
        return EncoderState(
            offset=counts,
            cache_length=counts.clone(),
            att_cache=torch.zeros(att_shape, dtype=dtype, device=device),
            cnn_cache=torch.zeros((lanes, *self._cnn_shape()), dtype=dtype, device=device),
        )

    def _cnn_shape(self) -> tuple[int, int, int]:
        config = self.config
        if self.hears_past:
            return 1, PAST, config.input_dim
        columns = config.cnn_module_kernel - 1 if config.has_convolution and config.causal else 0
        return config.num_blocks, columns, config.output_size

    def forward_lanes(
        self, feats: Tensor, out_lengths: Tensor, context: LaneContext
    ) -> tuple[Tensor, LaneUpdate]:
        """One chunk of B streams, each at its own offset, with room for T' frames.

        feats (B, W, F): a short lane (a stream's last chunk) is padded on the right with finite
        values. out_lengths (B,) int64: each lane's real output frames, from 0 (the lane stands
        still) to T'. Returns (B, T', D), meaningful up to out_lengths, and what it changes in their
        state, which is left as it was. The context is used up. Each lane's result is that of
        `forward_chunk` on it alone with `required_cache_size` = the state's capacity.

        Raises NotStreamable for a model that was not trained in chunks.
        """
        self._require_streamable()
        heard = self.heard(feats, context.cnn_cache)
        x = self.embed_heard(heard, context.offset)
        frames, columns = x.size(1) // self.stages[0].rate, context.cnn_cache.size(2)
        cnn_cache = with_room(context.cnn_cache, frames)
        for stage in self.stages:
            x = stage.enter(x)
            step = self._lane_step(stage, out_lengths, context)
            for i, layer in zip(stage.layers, self.layers_of(stage), strict=True):
                cnn_columns = cnn_cache[:, i] if layer.conv_module else None
                x = advance_layer(
                    layer, x, step, context.att_columns[:, stage.rows(i)], cnn_columns
                )
        # Blocks with a convolution all run at the last stage's rate, which is one.
        update = LaneUpdate(
            out_lengths=out_lengths,
            att_columns=context.att_columns[:, :, :, -frames:],
            cnn_cache=self.past_of_next(heard, out_lengths)
            if self.hears_past
            else step.last_columns(cnn_cache, columns),
        )
        return self.narrowed(self.after_norm(x)), update

    def _lane_step(self, stage: Stage, out_lengths: Tensor, context: LaneContext) -> LaneStep:
        rate = stage.rate
        new = torch.arange(context.room * rate, device=out_lengths.device)
        return LaneStep(
            out_lengths=out_lengths * rate,
            key_mask=context.key_mask(out_lengths).repeat(1, 1, 1, rate),
            positions=self.key_positions(new + (context.offset * rate).unsqueeze(1)),
            ragged=bool((out_lengths < context.room).any()),
        )

    def _require_streamable(self) -> None:
        if not self.config.streamable:
            raise NotStreamable("this encoder was trained on whole utterances, not on chunks")


def _masks(
    x: Tensor, out_lengths: Tensor, chunk_size: int, num_left_chunks: int
) -> tuple[Tensor | None, Tensor | None]:
    """Attention mask (1 or B, 1, 1 or T', T') and valid frames (B, T', 1); None = all."""
    frames = x.size(1)
    mask = valid = None
    if bool((out_lengths < frames).any()):
        valid = padding_mask(out_lengths, frames)
        mask = valid[:, None, None]
    if 0 < chunk_size < frames:
        chunks = chunk_mask(frames, chunk_size, num_left_chunks, x.device)[None, None]
        mask = chunks if mask is None else mask & chunks
    return mask, None if valid is None else valid.unsqueeze(2)


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
