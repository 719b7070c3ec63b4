"""The feed-forward modules of NeMo's layers."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from earshot.models.fastconformer.config import FastConformerConfig


class FeedForward(nn.Module):
    """linear2(SiLU(linear1(x))) (Gulati 2020, section 2.3)."""

    def __init__(self, config: FastConformerConfig) -> None:
        super().__init__()
        self.linear1 = nn.Linear(config.size, config.feed_forward_size, config.use_bias)
        self.linear2 = nn.Linear(config.feed_forward_size, config.size, config.use_bias)

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (…, D) to (…, D)."""
        y: Tensor = self.linear2(functional.silu(self.linear1(x)))
        return y
