"""Texts that a Whisper writes by itself, greedily, many at once with keys and values kept."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.layers.masks import padding_mask
from earshot.models.whisper_decoder.network import WhisperDecoder

Kept = list[tuple[Tensor, Tensor]]


class GreedyWriter:
    """Writes at most `most_tokens` after the prompt, never one of `suppressed`."""

    def __init__(
        self, decoder: WhisperDecoder, suppressed: Sequence[int], most_tokens: int
    ) -> None:
        self._decoder = decoder
        room = decoder.config.positions - len(decoder.config.prompt)
        self._most = min(most_tokens, room)
        self._barred = torch.zeros(decoder.config.vocab_size)
        self._barred[list(suppressed)] = -torch.inf

    @torch.inference_mode()
    def write(self, memory: Tensor, lengths: Tensor) -> list[list[int] | None]:
        """Tokens for each row of memory `(B, T, D)` with lengths `(B,)`; None where it never ends.

        A text that goes on until there is no room repeats itself.
        """
        config, blocks = self._decoder.config, self._decoder.layers
        heard = padding_mask(lengths, memory.size(1))[:, None, None]
        sources = [block.cross_attn.project(memory) for block in blocks]
        kept: Kept = []
        texts: list[list[int]] = [[] for _ in memory]
        open_rows = set(range(len(texts)))
        tokens = torch.tensor([config.prompt] * len(texts), device=memory.device)
        for _ in range(self._most):
            logits, kept = self._step(tokens, kept, sources, heard)
            best = (logits + self._barred.to(logits)).argmax(dim=-1)
            for row in list(open_rows):
                if int(best[row]) == config.end:
                    open_rows.discard(row)
                else:
                    texts[row].append(int(best[row]))
            if not open_rows:
                break
            tokens = best.unsqueeze(1)
        return [None if row in open_rows else text for row, text in enumerate(texts)]

    def _step(
        self, tokens: Tensor, kept: Kept, sources: Kept, heard: Tensor
    ) -> tuple[Tensor, Kept]:
        """Logits (B, V) after tokens (B, U), and keys and values with those of the tokens."""
        first = kept[0][0].size(2) if kept else 0
        count = tokens.size(1)
        places = torch.arange(first, first + count, device=tokens.device)
        visible = torch.arange(first + count, device=tokens.device) <= places.unsqueeze(1)
        x = self._decoder.embed_tokens(tokens, places)
        now: Kept = []
        for number, block in enumerate(self._decoder.layers):
            normed = block.attn_ln(x)
            keys, values = block.attn.project(normed)
            if kept:
                keys = torch.cat((kept[number][0], keys), dim=2)
                values = torch.cat((kept[number][1], values), dim=2)
            now.append((keys, values))
            x = x + block.attn(normed, (keys, values), visible)
            x = x + block.cross_attn(block.cross_attn_ln(x), sources[number], heard)
            x = x + block.mlp(block.mlp_ln(x))
        last = self._decoder.ln(x[:, -1])
        return functional.linear(last, self._decoder.token_embedding.weight).float(), now
