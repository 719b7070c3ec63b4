"""Whisper's decoder in torch is the published one."""

from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.models.checkpoints.whisper.checkpoint import WhisperCheckpoint, read_whisper
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder_config import WhisperDecoderConfig

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "whisper"
ROUNDING = {"rtol": 1e-4, "atol": 1e-4}


@pytest.fixture(scope="module")
def whisper() -> WhisperCheckpoint:
    return read_whisper(FOLDER / "openai.pt")


@pytest.fixture(scope="module")
def decoder(whisper) -> WhisperDecoder:
    dims = whisper.dims
    config = WhisperDecoderConfig(
        vocab_size=dims.vocabulary, positions=dims.text_positions, size=dims.text_size,
        attention_heads=dims.text_heads, num_blocks=dims.text_blocks, prompt=(3,), end=2,
    )  # fmt: skip
    decoder = WhisperDecoder(config).eval().requires_grad_(False)
    own = {k[8:]: v for k, v in whisper.tensors.items() if k.startswith("decoder.")}
    decoder.load_state_dict(own)
    return decoder


def test_logits_are_those_of_the_original(decoder):
    with np.load(FOLDER / "golden.npz") as golden:
        names = ("openai_encoder", "tokens", "openai_logits")
        memory, tokens, logits = (torch.from_numpy(golden[name]) for name in names)
    lengths = torch.tensor([memory.size(1)])
    torch.testing.assert_close(decoder(memory, lengths, tokens), logits, **ROUNDING)


def test_padded_memory_does_not_matter(decoder):
    torch.manual_seed(1)
    memory, tokens = torch.randn(1, 9, 16), torch.tensor([[3, 8, 9]])
    padded = torch.cat((memory, torch.full((1, 4, 16), 1e6)), dim=1)
    lengths = torch.tensor([9])
    alone = decoder(memory, lengths, tokens)
    torch.testing.assert_close(decoder(padded, lengths, tokens), alone)


def test_frames_that_are_repeated_are_heard_as_single_ones(decoder):
    torch.manual_seed(2)
    memory, tokens = torch.randn(1, 9, 16), torch.tensor([[3, 8, 9]])
    once = decoder(memory, torch.tensor([9]), tokens)
    twice = decoder(memory.repeat_interleave(2, dim=1), torch.tensor([18]), tokens)
    torch.testing.assert_close(twice, once, **ROUNDING)
