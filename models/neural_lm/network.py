"""A causal transformer over subword tokens: what comes next, given all that came before.

Radford 2019 (GPT-2), section 2.3: norms before each branch, GELU, one matrix for both ends.
Positions are sinusoids, which take no room in a file.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.errors import ConfigError
from earshot.models.layers.positional import positional_encoding

MAX_SIZE = 1 << 16
MAX_BLOCKS = 64


@dataclass(frozen=True)
class NeuralLmConfig:
    """Sizes of the network. `context` is the most tokens that it was trained to look back on.

    Raises ConfigError.
    """

    vocab_size: int = 4096
    size: int = 320
    heads: int = 4
    blocks: int = 3
    feed_forward: int = 1280
    context: int = 128

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            most = MAX_BLOCKS if name == "blocks" else MAX_SIZE
            if type(value) is not int or not 1 <= value <= most:
                raise ConfigError(f"{name} is {value!r}, must be 1 to {most}")
        if self.size % self.heads or self.size % 2:
            raise ConfigError(f"size is {self.size}: must be even, and a multiple of heads")


class Block(nn.Module):
    """Attention and feed-forward, each added to what passes by."""

    def __init__(self, config: NeuralLmConfig) -> None:
        super().__init__()
        self._heads = config.heads
        self.norm1 = nn.LayerNorm(config.size)
        self.qkv = nn.Linear(config.size, 3 * config.size)
        self.out = nn.Linear(config.size, config.size)
        self.norm2 = nn.LayerNorm(config.size)
        self.up = nn.Linear(config.size, config.feed_forward)
        self.down = nn.Linear(config.feed_forward, config.size)

    def forward(self, x: Tensor, visible: Tensor | None) -> Tensor:
        """`x` (B, T, D); `visible` (B, T, T) as in `NeuralLm`."""
        x = x + self.out(self._attend(self.qkv(self.norm1(x)), visible))
        ahead: Tensor = self.down(functional.gelu(self.up(self.norm2(x))))
        return x + ahead

    def _attend(self, qkv: Tensor, visible: Tensor | None) -> Tensor:
        batch, length, _ = qkv.shape
        queries, keys, values = (
            each.float().view(batch, length, self._heads, -1).transpose(1, 2)
            for each in qkv.chunk(3, dim=-1)
        )
        # In bfloat16 its gradient takes several times as long on a CPU.
        with torch.autocast(qkv.device.type, enabled=False):
            seen = functional.scaled_dot_product_attention(
                queries,
                keys,
                values,
                attn_mask=None if visible is None else visible.unsqueeze(1),
                is_causal=visible is None,
            )
        return seen.transpose(1, 2).flatten(2)


class NeuralLm(nn.Module):
    """Tokens (B, T) to logits of the tokens that follow (B, T, V)."""

    def __init__(self, config: NeuralLmConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.size)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.blocks))
        self.norm = nn.LayerNorm(config.size)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(
        self, tokens: Tensor, depths: Tensor | None = None, visible: Tensor | None = None
    ) -> Tensor:
        """Without the rest `tokens` are sequences, of which each sees those before it.

        depths (B, T): the place of each token in its sequence. visible (B, T, T): which tokens
        (last dimension) each token sees, itself at least.
        """
        if depths is None:
            depths = torch.arange(tokens.size(1), device=tokens.device)
        x = self.embed_tokens(tokens, depths)
        for block in self.blocks:
            x = block(x, visible)
        return functional.linear(self.norm(x), self.embed.weight, self.bias)

    def embed_tokens(self, tokens: Tensor, depths: Tensor) -> Tensor:
        """Tokens (…, T) at places (…, T) in their sequences: (…, T, D)."""
        size = self.config.size
        placed: Tensor = self.embed(tokens) * math.sqrt(size) + positional_encoding(depths, size)
        return placed


def initialise(network: NeuralLm) -> None:
    """Set weights as they are before training, using torch's global generator."""
    branches = 2 * network.config.blocks
    nn.init.normal_(network.embed.weight, std=network.config.size**-0.5)
    for block in network.blocks:
        assert isinstance(block, Block)
        for last in (block.out, block.down):
            nn.init.normal_(last.weight, std=0.02 / math.sqrt(branches))
