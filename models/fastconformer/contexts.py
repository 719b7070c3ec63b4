"""Attention masks of whole utterances by context; True = may be seen."""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models.fastconformer.config import AttentionContext, ContextStyle
from earshot.models.layers.masks import chunk_mask, padding_mask


def attention_mask(
    lengths: Tensor, size: int, context: AttentionContext, style: ContextStyle
) -> Tensor:
    """(B, T, T) with T = `size`: frames within `lengths` (B,) that see each other by `context`.

    Rows, the queries, past a length see nothing.
    """
    valid = padding_mask(lengths, size)
    seen = context_mask(size, context, style, lengths.device)
    return seen & valid.unsqueeze(1) & valid.unsqueeze(2)


def context_mask(
    size: int, context: AttentionContext, style: ContextStyle, device: torch.device | None = None
) -> Tensor:
    """(size, size): the frames that each frame sees (Noroozi 2024, section 3).

    "regular": `left` before it and `right` after it. "chunked_limited": its chunk of `right + 1`
    and so many chunks before it as `left` holds; without an end to the right there are no chunks.
    """
    if style == "regular" or context.right < 0:
        return _limited_mask(size, context, device)
    chunk = context.right + 1
    left_chunks = -1 if context.left < 0 else context.left // chunk
    return chunk_mask(size, chunk, left_chunks, device)


def _limited_mask(size: int, context: AttentionContext, device: torch.device | None) -> Tensor:
    place = torch.arange(size, device=device)
    behind = place.unsqueeze(1) - place.unsqueeze(0)  # rows are queries
    seen = torch.ones_like(behind, dtype=torch.bool)
    if context.left >= 0:
        seen &= behind <= context.left
    if context.right >= 0:
        seen &= behind >= -context.right
    return seen
