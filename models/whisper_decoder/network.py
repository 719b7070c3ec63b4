"""Whisper's decoder as it was published (Radford 2022, section 2.2), under OpenAI's names.

Norms before each branch, GELU, learned positions, keys without bias, and one matrix for both the
embedding and the output.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.layers.masks import padding_mask
from earshot.models.whisper_decoder_config import WhisperDecoderConfig

KeysAndValues = tuple[Tensor, Tensor]


class WhisperAttention(nn.Module):
    """Attention of `heads` heads; names and biases are Whisper's."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(size, size)
        self.key = nn.Linear(size, size, bias=False)
        self.value = nn.Linear(size, size)
        self.out = nn.Linear(size, size)

    def project(self, x: Tensor) -> KeysAndValues:
        """Keys and values (B, h, T, d_k) of (B, T, D)."""
        return self._split(self.key(x)), self._split(self.value(x))

    def forward(self, x: Tensor, memory: KeysAndValues, visible: Tensor | None) -> Tensor:
        """(B, U, D) about memory (B, h, T, d_k) twice; visible broadcasts to (B, h, U, T)."""
        seen = functional.scaled_dot_product_attention(
            self._split(self.query(x)), *memory, attn_mask=visible
        )
        out: Tensor = self.out(seen.transpose(1, 2).flatten(2))
        return out

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)


class WhisperDecoderBlock(nn.Module):
    """x += Attn(LN x); x += CrossAttn(LN x); x += MLP(LN x)."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.attn = WhisperAttention(size, heads)
        self.attn_ln = nn.LayerNorm(size)
        self.cross_attn = WhisperAttention(size, heads)
        self.cross_attn_ln = nn.LayerNorm(size)
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))
        self.mlp_ln = nn.LayerNorm(size)

    def forward(
        self, x: Tensor, visible: Tensor, memory: KeysAndValues, heard: Tensor | None
    ) -> Tensor:
        """X (B, U, D); visible (B, 1, U, U) and heard (B, 1, 1, T) bool say what is seen."""
        normed = self.attn_ln(x)
        return self.follow(x, normed, self.attn.project(normed), visible, memory, heard)

    def follow(
        self,
        x: Tensor,
        normed: Tensor,
        before: KeysAndValues,
        visible: Tensor,
        memory: KeysAndValues,
        heard: Tensor | None,
    ) -> Tensor:
        """X (B, U, D) and its norm, after others: before (B, h, N, d_k) has all, x included.

        visible (B, 1, U, N).
        """
        x = x + self.attn(normed, before, visible)
        x = x + self.cross_attn(self.cross_attn_ln(x), memory, heard)
        passed: Tensor = x + self.mlp(self.mlp_ln(x))
        return passed


class WhisperDecoder(nn.Module):
    """Tokens and what was heard to logits of the tokens that follow."""

    def __init__(self, config: WhisperDecoderConfig) -> None:
        super().__init__()
        self.config = config
        size = config.size
        self.token_embedding = nn.Embedding(config.vocab_size, size)
        self.positional_embedding = nn.Parameter(torch.zeros(config.positions, size))
        self.blocks = nn.ModuleList(
            WhisperDecoderBlock(size, config.attention_heads) for _ in range(config.num_blocks)
        )
        self.ln = nn.LayerNorm(size)

    @property
    def layers(self) -> list[WhisperDecoderBlock]:
        """The blocks, first to last."""
        return [block for block in self.blocks if isinstance(block, WhisperDecoderBlock)]

    def forward(self, memory: Tensor, memory_lengths: Tensor, tokens: Tensor) -> Tensor:
        """Logits (B, U, V) of what follows each token.

        memory (B, T, D) with lengths (B,); tokens (B, U) begin with the prompt, and are padded on
        the right with any id: a token sees only what lies left of it.
        """
        length = tokens.size(1)
        depths = torch.arange(length, device=tokens.device)
        left = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
        x = self.embed_tokens(tokens, depths)
        return self._logits(x, left[None, None], memory, memory_lengths)

    def embed_tokens(self, tokens: Tensor, depths: Tensor) -> Tensor:
        """Tokens (..., U) at positions, broadcastable to theirs: (..., U, D)."""
        embedded: Tensor = self.token_embedding(tokens) + self.positional_embedding[depths]
        return embedded

    def _logits(self, x: Tensor, visible: Tensor, memory: Tensor, memory_lengths: Tensor) -> Tensor:
        heard = padding_mask(memory_lengths, memory.size(1))[:, None, None]
        for block in self.layers:
            x = block(x, visible, block.cross_attn.project(memory), heard)
        return functional.linear(self.ln(x), self.token_embedding.weight)
