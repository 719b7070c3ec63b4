"""Multi-head attention, plain and with WeNet's positional keys.

WeNet's "rel_pos" attention has no relative shift: key j carries the absolute position p_j, and

    score(i, j) = ((q_i + u) k_j + (q_i + v) p_j) / sqrt(d_k)
                = (q_i (k_j + p_j) + (u k_j + v p_j)) / sqrt(d_k).

The second form is ordinary attention to the keys k + p with one bias per key. It halves the work,
fits the fused kernel, and k + p and the bias never change during a key's life, so a stream can
cache them (`Encoder.forward_lanes`).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

# Added to the scores of masked keys. Finite, so that a lane without any valid key stays finite,
# and within half precision's range; exp(-30000) is zero all the same.
MASKED = -3.0e4


class MultiHeadAttention(nn.Module):
    """Scaled dot-product attention with `heads` heads over vectors of `size`."""

    def __init__(self, heads: int, size: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.head_size = size // heads
        self.dropout = dropout
        self.linear_q = nn.Linear(size, size)
        self.linear_k = nn.Linear(size, size)
        self.linear_v = nn.Linear(size, size)
        self.linear_out = nn.Linear(size, size)

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, T, D) to (B, h, T, d_k)."""
        return x.view(*x.shape[:-1], self.heads, self.head_size).transpose(1, 2)

    def project_query(self, x: Tensor) -> Tensor:
        """Queries (B, h, U, d_k) of x (B, U, D)."""
        return self.split_heads(self.linear_q(x))

    def project_memory(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (B, h, T, d_k) of x (B, T, D)."""
        return self.split_heads(self.linear_k(x)), self.split_heads(self.linear_v(x))

    def positional_keys(
        self, keys: Tensor, positions: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Keys (B, h, T, d_k) with their positions: effective keys, bias (B, h, T) or None.

        positions: positional encoding (1 or B, T, D). The bias is in units of q k, before the
        division by sqrt(d_k).
        """
        return keys, None

    def attend(
        self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, causal: bool = False
    ) -> Tensor:
        """Query (B, h, U, d_k), keys and values (B, h, T, d_k) to (B, U, D).

        `mask`, broadcastable to (B, h, U, T), is boolean (True = may be seen) or added to the
        scaled scores.
        """
        mixed = functional.scaled_dot_product_attention(
            query,
            keys,
            values,
            attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=causal,
        )
        out: Tensor = self.linear_out(mixed.transpose(1, 2).flatten(2))
        return out

    def score_mask(self, bias: Tensor | None, mask: Tensor | None) -> Tensor | None:
        """One mask for `attend` from the keys' bias (B, h, T) and a boolean mask."""
        if bias is None:
            return mask
        scaled = (bias / math.sqrt(self.head_size)).unsqueeze(2)
        return scaled if mask is None else scaled.masked_fill(~mask, MASKED)

    def forward(
        self, query: Tensor, memory: Tensor, mask: Tensor | None, positions: Tensor | None = None
    ) -> Tensor:
        """Attention of query (B, U, D) to memory (B, T, D) under a boolean mask: (B, U, D)."""
        keys, values = self.project_memory(memory)
        keys, bias = self.positional_keys(keys, positions)
        return self.attend(self.project_query(query), keys, values, self.score_mask(bias, mask))


class PositionalKeyAttention(MultiHeadAttention):
    """Self-attention whose keys carry absolute positions (WeNet's `rel_selfattn`)."""

    def __init__(self, heads: int, size: int, dropout: float) -> None:
        super().__init__(heads, size, dropout)
        self.linear_pos = nn.Linear(size, size, bias=False)
        self.pos_bias_u = nn.Parameter(torch.empty(heads, self.head_size))
        self.pos_bias_v = nn.Parameter(torch.empty(heads, self.head_size))
        nn.init.xavier_uniform_(self.pos_bias_u)
        nn.init.xavier_uniform_(self.pos_bias_v)

    def positional_keys(
        self, keys: Tensor, positions: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Keys k + p, and u k + v p of each; see the module's docstring."""
        assert positions is not None
        pos = self.split_heads(self.linear_pos(positions))
        bias = (keys * self.pos_bias_u.unsqueeze(1)).sum(-1)
        bias = bias + (pos * self.pos_bias_v.unsqueeze(1)).sum(-1)
        return keys + pos, bias
