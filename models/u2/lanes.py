"""State and per-layer step for many streams in one batch, each at its own place in its audio.

A stream's state is one row of every tensor of `EncoderState`, so a slot gathers and scatters on
dimension 0. Two facts keep the step cheap (docs/decisions/0010-encoder-lanes.md): a key's position
never changes, so the cache holds keys with their position and bias already in them; and the
convolution caches what its first pointwise layer made, not what it was given.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.models.layers.attention import MultiHeadAttention
from earshot.models.layers.convolution import ConvolutionModule
from earshot.models.layers.encoder_layer import EncoderLayer


@dataclass
class EncoderState:
    """Left context of B streams in an encoder of L layers. All zeros is a stream's start.

    offset (B,) int64: encoder frames already put out.
    cache_length (B,) int64: valid columns of att_cache, at its right end.
    att_cache (B, L, h, C, 2 d_k + 1): placed key, value and key bias.
    cnn_cache (B, L, k - 1, D): gated columns, less what the gate makes of silence.
    """

    offset: Tensor
    cache_length: Tensor
    att_cache: Tensor
    cnn_cache: Tensor

    @property
    def lanes(self) -> int:
        """B."""
        return self.offset.size(0)

    def gather(self, slots: Tensor, columns: int | None = None) -> EncoderState:
        """A copy of rows `slots` (B,) int64, with the last `columns` of left context, or all.

        Left context is right-aligned: lanes that have heard little need only so many columns as the
        longest of them has.
        """
        return EncoderState(
            offset=self.offset[slots],
            cache_length=self.cache_length[slots],
            att_cache=self._last_columns(columns)[slots],
            cnn_cache=self.cnn_cache[slots],
        )

    def scatter(self, slots: Tensor, lanes: EncoderState) -> None:
        """Writes `lanes` into rows `slots` (B,), which must differ from each other.

        Columns that were not gathered stay as they are, and unread.
        """
        self.offset[slots] = lanes.offset
        self.cache_length[slots] = lanes.cache_length
        self._last_columns(lanes.att_cache.size(3))[slots] = lanes.att_cache
        self.cnn_cache[slots] = lanes.cnn_cache

    def reset(self, slots: Tensor) -> None:
        """Puts rows `slots` (B,) int64 back to the start of a stream."""
        for tensor in self._tensors():
            tensor.index_fill_(0, slots, 0)

    def _last_columns(self, columns: int | None) -> Tensor:
        held = self.att_cache.size(3)
        return self.att_cache[:, :, :, held - min(held if columns is None else columns, held) :]

    def _tensors(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.offset, self.cache_length, self.att_cache, self.cnn_cache


@dataclass(frozen=True)
class LaneStep:
    """What all layers share in one step of T' frames over caches of C columns.

    out_lengths (B,): frames of each lane that are real, the rest is padding on the right.
    key_mask (B, 1, 1, C + T') bool: cache columns and new frames that exist.
    positions (B, T', D) sinusoids of the new frames, None without positional keys.
    ragged: whether any lane is shorter than T'.
    """

    out_lengths: Tensor
    key_mask: Tensor
    positions: Tensor | None
    ragged: bool

    def last_columns(self, joined: Tensor, size: int) -> Tensor:
        """(B, …, C + T', W) to (B, …, size, W): the last `size` columns that are not padding.

        `joined` holds `size` old columns and then the new ones.
        """
        if not self.ragged:
            return joined.narrow(-2, joined.size(-2) - size, size)
        columns = self.out_lengths.unsqueeze(1) + torch.arange(size, device=joined.device)
        columns = columns.view(joined.size(0), *([1] * (joined.dim() - 3)), size, 1)
        return joined.gather(-2, columns.expand(*joined.shape[:-2], size, joined.size(-1)))


def key_mask(out_lengths: Tensor, cache_length: Tensor, capacity: int, frames: int) -> Tensor:
    """(B, 1, 1, capacity + frames) bool for `LaneStep`."""
    column = torch.arange(capacity + frames, device=out_lengths.device)
    first = (capacity - cache_length).unsqueeze(1)
    last = (capacity + out_lengths).unsqueeze(1)
    return ((column >= first) & (column < last))[:, None, None]


def with_room(cache: Tensor, columns: int) -> Tensor:
    """A copy of a cache (…, C, W) with `columns` more on the right, not yet written."""
    joined = cache.new_empty((*cache.shape[:-2], cache.size(-2) + columns, cache.size(-1)))
    joined.narrow(-2, 0, cache.size(-2)).copy_(cache)
    return joined


def advance_layer(
    layer: EncoderLayer, x: Tensor, step: LaneStep, att_columns: Tensor, cnn_columns: Tensor
) -> Tensor:
    """One layer over x (B, T', D), which writes what it caches of x into the last T' columns.

    att_columns (B, h, C + T', 2 d_k + 1), cnn_columns (B, k - 1 + T', D). Returns (B, T', D).
    """
    x = layer.before_attention(x)
    x = layer.add(x, _attend(layer.self_attn, layer.attention_input(x), step, att_columns))
    if layer.conv_module is not None:
        normed = layer.convolution_input(x)
        x = layer.add(x, _convolve(layer.conv_module, normed, cnn_columns))
    return layer.after_convolution(x)


def _attend(
    attention: MultiHeadAttention, normed: Tensor, step: LaneStep, columns: Tensor
) -> Tensor:
    frames, size = normed.size(1), attention.head_size
    keys, values = attention.project_memory(normed)
    keys, bias = attention.place_keys(keys, step.positions)
    new = columns[:, :, -frames:]
    new[..., :size], new[..., size:-1] = keys, values
    new[..., -1] = 0.0 if bias is None else bias
    mask = attention.score_mask(None if bias is None else columns[..., -1], step.key_mask)
    query = attention.project_query(normed)
    return attention.attend(query, columns[..., :size], columns[..., size:-1], mask)


def _convolve(module: ConvolutionModule, normed: Tensor, columns: Tensor) -> Tensor:
    silence = module.silence()
    columns[:, -normed.size(1) :] = module.gate(normed) - silence
    return module.convolve(columns + silence)
