"""Attention decoders: left-to-right, and the bidirectional pair of U2++.

Several hypotheses of one stream share its memory: its keys and values are projected once, and
the hypotheses' queries lie side by side in one attention call (they do not see each other). What
they begin with alike they may share too, as a tree.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from earshot.models.config import DecoderConfig
from earshot.models.layers.attention import MultiHeadAttention
from earshot.models.layers.dropout import Dropout
from earshot.models.layers.feed_forward import FeedForward
from earshot.models.layers.masks import padding_mask
from earshot.models.layers.positional import positional_encoding
from earshot.models.token_tree import PackedTrees

KeysAndValues = tuple[Tensor, Tensor]


class DecoderLayer(nn.Module):
    """x += SelfMHA(LN x); x += SourceMHA(LN x); x += FFN(LN x)."""

    def __init__(self, config: DecoderConfig, size: int) -> None:
        super().__init__()
        heads, eps = config.attention_heads, config.norm_eps
        self.self_attn = MultiHeadAttention(heads, size, config.self_attention_dropout_rate)
        self.src_attn = MultiHeadAttention(heads, size, config.src_attention_dropout_rate)
        self.feed_forward = FeedForward(size, config.linear_units, "relu", config.dropout_rate)
        self.norm1 = nn.LayerNorm(size, eps=eps)
        self.norm2 = nn.LayerNorm(size, eps=eps)
        self.norm3 = nn.LayerNorm(size, eps=eps)
        self.dropout = Dropout(config.dropout_rate)

    def forward(
        self,
        x: Tensor,
        memory: KeysAndValues,
        memory_mask: Tensor | None,
        past: KeysAndValues | None,
        visible: Tensor | None = None,
    ) -> tuple[Tensor, KeysAndValues]:
        """N hypotheses of each of S streams, x (S, N, U, D), over memory (S, h, T, d_k) twice.

        `past` holds the self-attention's keys and values (S * N, h, P, d_k) of earlier tokens;
        with it U is 1. `visible` (S * N, 1, U, U) says which tokens each token sees; without it
        those to its left. Returns the output and the keys and values with the new ones appended.
        """
        hypotheses = x.flatten(0, 1)
        normed = self.norm1(hypotheses)
        keys, values = self.self_attn.project_memory(normed)
        if past is not None:
            keys, values = torch.cat((past[0], keys), dim=2), torch.cat((past[1], values), dim=2)
        query = self.self_attn.project_query(normed)
        causal = past is None and visible is None
        seen = self.self_attn.attend(query, keys, values, visible, causal)
        hypotheses = hypotheses + self.dropout(seen)
        x = hypotheses.view_as(x)
        query = self.src_attn.project_query(self.norm2(x).flatten(1, 2))
        heard = self.src_attn.attend(query, memory[0], memory[1], memory_mask)
        x = x + self.dropout(heard).view_as(x)
        x = x + self.dropout(self.feed_forward(self.norm3(x)))
        return x, (keys, values)


class TransformerDecoder(nn.Module):
    """Predicts the next token from the tokens so far and the encoder's output."""

    def __init__(self, config: DecoderConfig, num_blocks: int, vocab_size: int, size: int) -> None:
        super().__init__()
        self.size = size
        # A list of one: WeNet numbers the embedding 0 and its positional table 1.
        self.embed = nn.ModuleList([nn.Embedding(vocab_size, size)])
        self.positional_dropout = Dropout(config.positional_dropout_rate)
        self.decoders = nn.ModuleList(DecoderLayer(config, size) for _ in range(num_blocks))
        self.after_norm = nn.LayerNorm(size, eps=config.norm_eps)
        self.output_layer = nn.Linear(size, vocab_size)

    @property
    def layers(self) -> list[DecoderLayer]:
        """The blocks, first to last."""
        return [layer for layer in self.decoders if isinstance(layer, DecoderLayer)]

    def forward(self, memory: Tensor, memory_lengths: Tensor, tokens: Tensor) -> Tensor:
        """Logits (S, N, U, V) of what follows each token.

        memory (S, T, D) with lengths (S,); tokens (S, N, U) int64 begin with <sos> and are padded
        on the right with any id: a token sees only what lies left of it.
        """
        positions = torch.arange(tokens.size(-1), device=tokens.device)
        return self._logits(memory, memory_lengths, self.embed_tokens(tokens, positions), None)

    def follow(self, memory: Tensor, memory_lengths: Tensor, trees: PackedTrees) -> Tensor:
        """Logits (S, M, V) of what follows each node of a tree of hypotheses for each stream.

        memory (S, T, D) with lengths (S,); each of the S trees begins with <sos>.
        """
        x = self.embed_tokens(trees.tokens, trees.depths).unsqueeze(1)
        visible = trees.visible.unsqueeze(1)
        return self._logits(memory, memory_lengths, x, visible).squeeze(1)

    def _logits(
        self, memory: Tensor, memory_lengths: Tensor, x: Tensor, visible: Tensor | None
    ) -> Tensor:
        mask = source_mask(memory, memory_lengths)
        for layer in self.layers:
            x, _ = layer(x, layer.src_attn.project_memory(memory), mask, None, visible)
        logits: Tensor = self.output_layer(self.after_norm(x))
        return logits

    def embed_tokens(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Tokens (..., U) at positions, broadcastable to theirs: (..., U, D)."""
        x = self.embed[0](tokens) * math.sqrt(self.size) + positional_encoding(positions, self.size)
        dropped: Tensor = self.positional_dropout(x)
        return dropped

    def project_sources(self, memory: Tensor) -> list[KeysAndValues]:
        """Each layer's keys and values of memory (S, T, D), for `step`."""
        return [layer.src_attn.project_memory(memory) for layer in self.layers]

    def step(
        self,
        sources: list[KeysAndValues],
        mask: Tensor | None,
        tokens: Tensor,
        past: list[KeysAndValues] | None,
    ) -> tuple[Tensor, list[KeysAndValues]]:
        """Logits (S, N, V) after one more token (S, N), and the new past."""
        position = 0 if past is None else past[0][0].size(2)
        x = self.embed_tokens(tokens.unsqueeze(-1), torch.tensor([position], device=tokens.device))
        new_past = []
        for i, layer in enumerate(self.layers):
            x, kept = layer(x, sources[i], mask, None if past is None else past[i])
            new_past.append(kept)
        logits: Tensor = self.output_layer(self.after_norm(x.squeeze(2)))
        return logits, new_past


def source_mask(memory: Tensor, memory_lengths: Tensor) -> Tensor | None:
    """(S, 1, 1, T) bool, None where no row of memory (S, T, D) is padded."""
    if bool((memory_lengths >= memory.size(1)).all()):
        return None
    return padding_mask(memory_lengths, memory.size(1))[:, None, None]


class BidirectionalDecoder(nn.Module):
    """A left-to-right and a right-to-left decoder that share nothing (Wu 2021, U2++)."""

    def __init__(self, config: DecoderConfig, vocab_size: int, size: int) -> None:
        super().__init__()
        self.left_decoder = TransformerDecoder(config, config.num_blocks, vocab_size, size)
        self.right_decoder = TransformerDecoder(config, config.r_num_blocks, vocab_size, size)
