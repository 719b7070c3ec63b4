"""State and per-layer step for many streams in one batch, each at its own place in its audio.

A stream's state is one row of every tensor of `EncoderState`. Three facts keep the step cheap
(docs/decisions/0010-encoder-lanes.md): a key's position never changes, so the cache holds keys with
their position and bias already in them, and stays where it was written; a step brings the room for
its own frames along, and only these go back; the convolution caches what its first pointwise layer
made, not what it was given.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.models.layers.attention import MultiHeadAttention
from earshot.models.layers.convolution import ConvolutionModule
from earshot.models.layers.encoder_layer import EncoderLayer

GPU_ALIGNMENT_BYTES = 16


@dataclass
class EncoderState:
    """Left context of B streams in an encoder of L layers. All zeros is a segment's start.

    offset (B,) int64: encoder frames already put out.
    cache_length (B,) int64: how many frames before that are still in att_cache, at most C.
    att_cache (B, R, h, C + 1, W): positional key, value and key bias, then padding if any
        (`column_width`). A ring: frame f is in column f modulo C. The last column is where frames
        are written that nobody wants. A layer has one row; one that sees r frames for each that the
        encoder puts out has r rows, with each column's r frames one below the other.
    cnn_cache (B, L, k - 1, D): gated columns, less what the gate makes of silence; or (B, 1, 2, F),
        the normalised features before the window, which Whisper's stem sees.
    """

    offset: Tensor
    cache_length: Tensor
    att_cache: Tensor
    cnn_cache: Tensor

    @property
    def capacity(self) -> int:
        """C."""
        return self.att_cache.size(3) - 1

    def gather(self, slots: Tensor, room: int, columns: int | None = None) -> LaneContext:
        """A copy of rows `slots` (B,) int64, with room for `room` frames to come.

        columns: no lane has put out more frames; None says nothing.
        """
        used = self.capacity if columns is None else min(columns, self.capacity)
        if used + room <= self.capacity:
            att_columns = self.att_cache[:, :, :, : used + room][slots]
        else:
            att_columns = with_room(self.att_cache[:, :, :, :used][slots], room)
        return LaneContext(
            offset=self.offset[slots],
            cache_length=self.cache_length[slots],
            att_columns=att_columns,
            cnn_cache=self.cnn_cache[slots],
            capacity=self.capacity,
            room=room,
        )

    def scatter(self, slots: Tensor, step: LaneUpdate) -> None:
        """Moves rows `slots` (B,), which must differ from each other, on by a step."""
        before, frames = self.offset[slots], step.out_lengths
        self.cnn_cache[slots] = step.cnn_cache
        columns = self._columns(before, frames, step.att_columns.size(3))
        self.att_cache[slots.unsqueeze(1), :, :, columns] = step.att_columns.permute(0, 3, 1, 2, 4)
        self.cache_length[slots] = (self.cache_length[slots] + frames).clamp(max=self.capacity)
        self.offset[slots] = before + frames  # until here nothing that was written is read

    def reset(self, slots: Tensor) -> None:
        """Puts rows `slots` (B,) int64 back to the start of a stream.

        What they have heard is erased: a number that is none would spoil even what masks hide it.
        """
        used = self._columns_used(slots)
        for tensor in (self.offset, self.cache_length, self.cnn_cache, self.att_cache[..., -1:, :]):
            tensor.index_fill_(0, slots, 0)
        self.att_cache[:, :, :, :used].index_fill_(0, slots, 0)

    def _columns_used(self, slots: Tensor) -> int:
        """The first columns of a ring that rows may have filled, all where asking would wait.

        Pages of a ring that nobody has written or erased take no memory.
        """
        if slots.numel() == 0 or slots.device.type != "cpu":
            return self.capacity
        return min(int(self.offset[slots].max()), self.capacity)

    def _columns(self, offset: Tensor, frames: Tensor, count: int) -> Tensor:
        """(B, count): where the frames of a step go; padding, and what is too old, to the last."""
        place = torch.arange(count, device=offset.device)
        kept = (place < frames.unsqueeze(1)) & (place >= (frames - self.capacity).unsqueeze(1))
        column = (offset.unsqueeze(1) + place) % max(self.capacity, 1)
        return torch.where(kept, column, self.capacity)


@dataclass(frozen=True)
class LaneContext:
    """The state of B lanes in a step: copies of their rows of `EncoderState`, and room.

    att_columns (B, R, h, C' + room, W): the ring's first C' columns, then the step's own.
    """

    offset: Tensor
    cache_length: Tensor
    att_columns: Tensor
    cnn_cache: Tensor
    capacity: int
    room: int

    def key_mask(self, out_lengths: Tensor) -> Tensor:
        """(B, 1, 1, C' + room) bool: columns that hold a frame of the lane, old or new."""
        column = torch.arange(self.att_columns.size(3) - self.room, device=out_lengths.device)
        age = (self.offset.unsqueeze(1) - 1 - column) % max(self.capacity, 1)  # 0: the newest
        old = age < self.cache_length.unsqueeze(1)
        place = torch.arange(self.room, device=out_lengths.device)
        return torch.cat((old, place < out_lengths.unsqueeze(1)), dim=1)[:, None, None]


@dataclass(frozen=True)
class LaneUpdate:
    """What a step of T' frames changes: see `EncoderState.scatter`.

    out_lengths (B,): frames that are real. att_columns (B, R, h, T', W): of these frames.
    cnn_cache as in `EncoderState`.
    """

    out_lengths: Tensor
    att_columns: Tensor
    cnn_cache: Tensor


@dataclass(frozen=True)
class LaneStep:
    """Tensors that all layers of a stage share in one step of T' frames, r to a column.

    out_lengths (B,): frames of each lane that are real, the rest is padding on the right.
    key_mask (B, 1, 1, C' r + T') bool: cached and new frames that exist, row by row of the cache.
    positions (B, T', D) positional encoding of the new frames, None without positional keys.
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


def column_width(head_size: int, dtype: torch.dtype, device: torch.device) -> int:
    """W, numbers that a column of a cache has for each head: 2 d_k + 1, and padding on GPUs.

    torch's fused attention refuses keys there that do not begin at multiples of so many bytes.
    """
    width = 2 * head_size + 1
    if device.type == "cpu":
        return width
    numbers = GPU_ALIGNMENT_BYTES // dtype.itemsize
    return -(-width // numbers) * numbers


def with_room(cache: Tensor, columns: int) -> Tensor:
    """A copy of a cache (…, C, W) with `columns` more on the right, not yet written."""
    joined = cache.new_empty((*cache.shape[:-2], cache.size(-2) + columns, cache.size(-1)))
    joined.narrow(-2, 0, cache.size(-2)).copy_(cache)
    return joined


def advance_layer(
    layer: EncoderLayer, x: Tensor, step: LaneStep, att_columns: Tensor, cnn_columns: Tensor | None
) -> Tensor:
    """One layer over x (B, T', D), which writes what it caches of x into the last T' / r columns.

    att_columns (B, r, h, C + T' / r, W); cnn_columns (B, k - 1 + T', D) of one with a
    convolution. Returns (B, T', D).
    """
    x = layer.before_attention(x)
    x = layer.add(x, _attend(layer.self_attn, layer.attention_input(x), step, att_columns))
    if layer.conv_module is not None:
        assert cnn_columns is not None
        normed = layer.convolution_input(x)
        x = layer.add(x, _convolve(layer.conv_module, normed, cnn_columns))
    return layer.after_convolution(x)


def _attend(
    attention: MultiHeadAttention, normed: Tensor, step: LaneStep, columns: Tensor
) -> Tensor:
    rate, size = columns.size(1), attention.head_size
    keys, values = attention.project_memory(normed)
    keys, bias = attention.positional_keys(keys, step.positions)
    new = columns[:, :, :, -(normed.size(1) // rate) :]
    new[..., :size], new[..., size : 2 * size] = in_rows(keys, rate), in_rows(values, rate)
    new[..., 2 * size] = 0.0 if bias is None else in_rows(bias.unsqueeze(-1), rate).squeeze(-1)
    seen = columns.transpose(1, 2).flatten(2, 3)  # a view where there is one row
    mask = attention.score_mask(None if bias is None else seen[..., 2 * size], step.key_mask)
    query = attention.project_query(normed)
    return attention.attend(query, seen[..., :size], seen[..., size : 2 * size], mask)


def in_rows(frames: Tensor, rate: int) -> Tensor:
    """Frames (B, h, T * rate, W) as rows of a cache (B, rate, h, T, W)."""
    lanes, heads, count, width = frames.shape
    return frames.reshape(lanes, heads, count // rate, rate, width).permute(0, 3, 1, 2, 4)


def in_order(rows: Tensor) -> Tensor:
    """Rows of a cache (B, rate, h, T, W) as frames (B, h, T * rate, W): undoes `in_rows`."""
    return rows.permute(0, 2, 3, 1, 4).flatten(2, 3)


def _convolve(module: ConvolutionModule, normed: Tensor, columns: Tensor) -> Tensor:
    silence = module.silence()
    columns[:, -normed.size(1) :] = module.gate(normed) - silence
    return module.convolve(columns + silence)
