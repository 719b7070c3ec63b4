"""Whispers of openai-whisper, transformers and ctranslate2: read, they compute what these do."""

import pytest
import torch
from whisper_oracle import decode, encode

from earshot.models.checkpoints.whisper.checkpoint import read_whisper
from earshot.models.checkpoints.whisper.dims import WhisperDims

DIMS = WhisperDims(
    mels=10, audio_positions=24, audio_size=16, audio_heads=2, audio_blocks=2,
    vocabulary=335, text_positions=12, text_size=16, text_heads=4, text_blocks=2,
)  # fmt: skip
QUANTIZATIONS = ("float32", "float16", "bfloat16", "int8")
ROUNDING = {"rtol": 1e-5, "atol": 2e-5}


@pytest.mark.parametrize("name", ["openai.pt", "hugging_face", "sharded", "ctranslate2_int8"])
def test_sizes_are_those_that_were_written(whispers, name):
    whisper = read_whisper(whispers / name)
    assert whisper.dims == DIMS
    assert whisper.has_decoder


@pytest.mark.parametrize("name", ["openai.pt", "hugging_face", "sharded"])
def test_both_sides_compute_what_the_writers_code_does(whispers, computed, name):
    whisper = read_whisper(whispers / name)
    writer = name.removesuffix(".pt").replace("sharded", "hugging_face")
    encoded = encode(whisper, computed["mel"])
    torch.testing.assert_close(encoded, computed[f"{writer}_encoder"], **ROUNDING)
    logits = decode(whisper, encoded, computed["tokens"])
    torch.testing.assert_close(logits, computed[f"{writer}_logits"], **ROUNDING)


@pytest.mark.parametrize("quantization", QUANTIZATIONS)
def test_both_sides_compute_what_ctranslate2_does(whispers, computed, quantization):
    name = f"ctranslate2_{quantization}"
    whisper = read_whisper(whispers / name)
    encoded = encode(whisper, computed["mel"])
    torch.testing.assert_close(encoded, computed[f"{name}_encoder"], **ROUNDING)
    tokens, logits = computed[f"{name}_tokens"], computed[f"{name}_logits"]
    found = decode(whisper, encoded, tokens)[0, -len(logits) - 1 : -1]
    torch.testing.assert_close(found, logits, **ROUNDING)


@pytest.mark.parametrize("quantization", QUANTIZATIONS)
def test_converted_weights_are_those_that_were_converted(whispers, quantization):
    original = read_whisper(whispers / "hugging_face").tensors
    converted = read_whisper(whispers / f"ctranslate2_{quantization}").tensors
    assert converted.keys() == original.keys()
    bound = {"float32": 0, "float16": 0, "bfloat16": 2**-8, "int8": 0.5 / 127}[quantization]
    for name, weight in original.items():
        error = (converted[name] - weight).abs().max()
        assert error <= bound * weight.abs().max(), name
