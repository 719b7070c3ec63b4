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

from models.convolution import ConvolutionModule
from models.encoder_layer import EncoderLayer


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

    def gather(self, slots: Tensor) -> EncoderState:
        """A copy of rows `slots` (B,) int64."""
        return EncoderState(*(tensor.index_select(0, slots) for tensor in self._tensors()))

    def scatter(self, slots: Tensor, lanes: EncoderState) -> None:
        """Writes `lanes` into rows `slots` (B,), which must differ from each other."""
        for mine, theirs in zip(self._tensors(), lanes._tensors(), strict=True):
            mine.index_copy_(0, slots, theirs)

    def reset(self, rows: Tensor) -> None:
        """Puts the rows where `rows` (B,) bool is True back to the start of a stream."""
        for tensor in self._tensors():
            tensor[rows] = 0

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


def advance_layer(
    layer: EncoderLayer, x: Tensor, step: LaneStep, att_cache: Tensor, cnn_cache: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """One layer over x (B, T', D) with its caches (B, h, C, 2 d_k + 1) and (B, k - 1, D).

    Returns the output and both new caches.
    """
    x = layer.before_attention(x)
    branch, att_cache = _attend(layer, layer.attention_input(x), step, att_cache)
    x = layer.add(x, branch)
    if layer.conv_module is not None:
        normed = layer.convolution_input(x)
        branch, cnn_cache = _convolve(layer.conv_module, normed, step, cnn_cache)
        x = layer.add(x, branch)
    return layer.after_convolution(x), att_cache, cnn_cache


def _attend(
    layer: EncoderLayer, normed: Tensor, step: LaneStep, cache: Tensor
) -> tuple[Tensor, Tensor]:
    attention = layer.self_attn
    keys, values = attention.project_memory(normed)
    keys, bias = attention.place_keys(keys, step.positions)
    column = keys.new_zeros(keys.shape[:-1]) if bias is None else bias
    joined = torch.cat((cache, torch.cat((keys, values, column.unsqueeze(-1)), dim=-1)), dim=2)
    size = attention.head_size
    keys, values, column = joined[..., :size], joined[..., size:-1], joined[..., -1]
    mask = attention.score_mask(None if bias is None else column, step.key_mask)
    out = attention.attend(attention.project_query(normed), keys, values, mask)
    return out, step.last_columns(joined, cache.size(2))


def _convolve(
    module: ConvolutionModule, normed: Tensor, step: LaneStep, cache: Tensor
) -> tuple[Tensor, Tensor]:
    silence = module.silence()
    joined = torch.cat((cache, module.gate(normed) - silence), dim=1)
    return module.convolve(joined + silence), step.last_columns(joined, cache.size(1))
