"""Transformer-XL's positions: how far behind a query its key lies."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.layers.positional import positional_encoding


def relative_positions(queries: int, keys: int, like: Tensor) -> Tensor:
    """Sinusoids (keys + queries - 1, D) of the distances keys - 1 … 1 - queries.

    The queries are the last of the keys; a key behind its query has a distance above zero (Dai
    2019, appendix B). They are computed, not stored, for however many; D, device and type are
    those of `like` (…, D).
    """
    distances = torch.arange(keys - 1, -queries, -1, device=like.device)
    return positional_encoding(distances, like.size(-1)).to(like.dtype)


def by_key(scores: Tensor, keys: int) -> Tensor:
    """Scores (…, U, K + U - 1) of each query's distances, as of each query's keys (…, U, K).

    Query i, which is key K - U + i, finds key j at place U - 1 - i + j: rows as long as one more
    than they are, read as rows of their length, move by one from each query to the next (Dai 2019,
    appendix B).
    """
    queries, distances = scores.shape[-2:]
    padded = functional.pad(scores, (0, 1)).flatten(-2)
    rows = padded[..., queries - 1 :][..., : queries * distances]
    return rows.view(*rows.shape[:-1], queries, distances)[..., :keys]
