"""Self-attention with Transformer-XL's relative positions."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from earshot.models.fastconformer.config import FastConformerConfig
from earshot.models.fastconformer.positions import by_key

MASKED = -1.0e4
"""Score of a key that is not seen, as NeMo has it: finite, and within half precision's range."""


class PositionBiases:
    """Biases u and v (H, d_k) of all queries, to keys and to positions (Dai 2019, section 3.3)."""

    def __init__(self, config: FastConformerConfig) -> None:
        shape = config.heads, config.size // config.heads
        self.u, self.v = (nn.Parameter(torch.zeros(shape)) for _ in range(2))


class RelativeAttention(nn.Module):
    """Scores ((q + u) k + (q + v) p) / sqrt(d_k) of keys k at positions p (Dai 2019, eq. 5).

    `biases` may be other layers' as well; its parameters then have a name in each.
    """

    def __init__(self, config: FastConformerConfig, biases: PositionBiases) -> None:
        super().__init__()
        size, bias = config.size, config.use_bias
        self.heads = config.heads
        self.linear_q = nn.Linear(size, size, bias)
        self.linear_k = nn.Linear(size, size, bias)
        self.linear_v = nn.Linear(size, size, bias)
        self.linear_out = nn.Linear(size, size, bias)
        self.linear_pos = nn.Linear(size, size, bias=False)
        self.pos_bias_u, self.pos_bias_v = biases.u, biases.v

    def forward(self, x: Tensor, positions: Tensor, seen: Tensor) -> Tensor:
        """Whole utterances (B, T, D) to (B, T, D).

        positions: (2 T - 1, D), of `relative_positions`. seen: (B, T, T).
        """
        keys, values = self.project_memory(x)
        return self.attend(x, keys, values, self.project_positions(positions), seen)

    def project_memory(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (B, H, K, d_k) of frames (B, K, D)."""
        return self._split_heads(self.linear_k(memory)), self._split_heads(self.linear_v(memory))

    def project_positions(self, positions: Tensor) -> Tensor:
        """Positions (P, D) as queries meet them: (H, P, d_k)."""
        return self._split_heads(self.linear_pos(positions))

    def attend(
        self, x: Tensor, keys: Tensor, values: Tensor, places: Tensor, seen: Tensor
    ) -> Tensor:
        """Queries x (B, U, D), the last of K frames, to (B, U, D).

        keys, values: (B, H, K, d_k). places: (H, K + U - 1, d_k), of `relative_positions`. seen:
        (B, U, K); a query that sees nothing gets the output of zeros.
        """
        mixed = self.weights(x, keys, places, seen) @ values
        out: Tensor = self.linear_out(mixed.transpose(1, 2).flatten(2))
        return out

    def weights(self, x: Tensor, keys: Tensor, places: Tensor, seen: Tensor) -> Tensor:
        """How much each query hears of each key: (B, H, U, K)."""
        query = self._split_heads(self.linear_q(x))
        content = (query + self.pos_bias_u.unsqueeze(1)) @ keys.mT
        position = (query + self.pos_bias_v.unsqueeze(1)) @ places.mT
        scores = (content + by_key(position, keys.size(2))) / math.sqrt(keys.size(-1))
        unseen = ~seen.unsqueeze(1)
        weights = torch.softmax(scores.masked_fill(unseen, MASKED), dim=-1)
        return weights.masked_fill(unseen, 0.0)

    def _split_heads(self, x: Tensor) -> Tensor:
        """(…, T, D) to (…, H, T, d_k)."""
        return x.view(*x.shape[:-1], self.heads, -1).transpose(-3, -2)
