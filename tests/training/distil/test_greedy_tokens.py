"""Texts that a decoder writes by itself."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder_config import WhisperDecoderConfig
from earshot.training.distil.greedy_tokens import GreedyWriter

CONFIG = WhisperDecoderConfig(
    vocab_size=20, positions=12, size=16, attention_heads=2, num_blocks=2, prompt=(18, 19), end=17
)
LENGTHS = torch.tensor([9, 4, 7, 5, 9, 3])


@pytest.fixture
def decoder() -> WhisperDecoder:
    torch.manual_seed(3)
    decoder = WhisperDecoder(CONFIG).eval()
    for weight in decoder.parameters():
        torch.nn.init.normal_(weight, std=0.7)
    decoder.token_embedding.weight.data[CONFIG.end] *= 3.0  # some texts end
    return decoder


@pytest.fixture
def memory() -> Tensor:
    return torch.randn(len(LENGTHS), 9, 16, generator=torch.Generator().manual_seed(4))


@torch.no_grad()
def slowly(decoder: WhisperDecoder, memory: Tensor, length: int, barred: int) -> list[int] | None:
    """The same without anything kept, one text by itself."""
    tokens = list(CONFIG.prompt)
    for _ in range(CONFIG.positions - len(CONFIG.prompt)):
        heard = memory[None, :length], torch.tensor([length])
        logits = decoder(*heard, torch.tensor([tokens]))[0, -1]
        logits[barred] = -torch.inf
        tokens.append(int(logits.argmax()))
        if tokens[-1] == CONFIG.end:
            return tokens[2:-1]
    return None


@pytest.mark.parametrize("barred", [5, 11])
def test_many_at_once_are_written_as_each_by_itself(
    decoder: WhisperDecoder, memory: Tensor, barred: int
) -> None:
    found = GreedyWriter(decoder, [barred], 100).write(memory, LENGTHS)
    assert found == [
        slowly(decoder, row, int(length), barred)
        for row, length in zip(memory, LENGTHS, strict=True)
    ]
    assert not any(barred in text for text in found if text is not None)
    assert {text is None for text in found} == {True, False}  # or this test says little


def test_no_text_is_longer_than_it_may_be(decoder: WhisperDecoder, memory: Tensor) -> None:
    found = GreedyWriter(decoder, [CONFIG.end], 3).write(memory, LENGTHS)
    assert found == [None] * len(LENGTHS)
