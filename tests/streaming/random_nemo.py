"""Small random models of NeMo's kinds that answer sounds with labels, and quiet with blanks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.config import FeatureConfig
from earshot.models.fastconformer.config import (
    AttentionContext,
    FastConformerConfig,
    FastConformerModelConfig,
    PromptConfig,
)
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import CtcUnits, UnitTable
from earshot.models.transducer_config import TransducerConfig

RATE_HZ = 16_000
SYMBOLS = (*"一二三四五六七八九", *"abcdefgh", "\u2581")
"""Digits are words of their own, letters are not."""
LANGUAGES = {"en-US": 0, "de-DE": 1, "zh-CN": 2, "auto": 3}

SMALL = {"features_size": 20, "size": 24, "layers": 2, "heads": 2, "feed_forward_size": 32}
CHUNKS: dict[str, Any] = {
    "stem_channels": 6,
    "causal_stem": True,
    "causal_convolution": True,
    "conv_norm": "layer_norm",
    "normalise": "none",
    "contexts": (AttentionContext(8, 3), AttentionContext(8, 1), AttentionContext(8, 0)),
    "context_style": "chunked_limited",
}
WINDOWS: dict[str, Any] = {"stem_channels": 6, "kernel": 5}
STRIDING4: dict[str, Any] = {
    "stem_channels": 8, "kernel": 5, "subsampling": "striding", "subsampling_factor": 4,
}  # fmt: skip
DURATIONS = (0, 1, 2, 3, 4)
PROMPT = PromptConfig(size=len(LANGUAGES), hidden_size=24, languages=LANGUAGES)

KINDS: dict[str, dict[str, Any]] = {
    "chunks, rnnt": {"seed": 7, "encoder": CHUNKS, "durations": ()},
    "chunks, tdt and ctc": {"seed": 6, "encoder": CHUNKS, "durations": DURATIONS, "has_ctc": True},
    "chunks, rnnt with prompt": {"seed": 7, "encoder": CHUNKS, "durations": (), "prompt": PROMPT},
    "windows, tdt": {"seed": 5, "encoder": WINDOWS, "durations": DURATIONS},
    "windows, rnnt and ctc": {"seed": 12, "encoder": STRIDING4, "durations": (), "has_ctc": True},
    "windows, ctc": {"seed": 2, "encoder": WINDOWS, "has_ctc": True},
}
"""seed: one by which the heads say much. durations: of a transducer; () of an RNN-T."""


@cache
def random_nemo(kind: str) -> LoadedModel:
    """One of KINDS; the same at each call."""
    torch.manual_seed(KINDS[kind]["seed"])
    model = FastConformerModel(_config(KINDS[kind])).eval().requires_grad_(False)
    for name, parameter in model.named_parameters():
        if "norm" not in name:  # zeros, as biases begin, hide mistakes
            parameter.normal_(std=0.35)
    _calibrate(model)
    ctc = CtcUnits(len(SYMBOLS)) if model.ctc is not None else None
    tokenizer = CharTokenizer(UnitTable.of(SYMBOLS, kind))
    languages = tuple(LANGUAGES) if model.prompt is not None else ()
    return LoadedModel(
        kind, model, tokenizer, "nemo", family="fastconformer", ctc=ctc, languages=languages
    )


def _config(kind: dict[str, Any]) -> FastConformerModelConfig:
    head = None
    if "durations" in kind:
        head = TransducerConfig(
            len(SYMBOLS), SMALL["size"], 16, 64, durations=kind["durations"], max_symbols=3
        )
    return FastConformerModelConfig(
        len(SYMBOLS),
        FastConformerConfig(**SMALL, **kind["encoder"]),
        FeatureConfig(kind="nemo", num_mel_bins=SMALL["features_size"]),
        head,
        has_ctc=kind.get("has_ctc", False),
        prompt=kind.get("prompt"),
    )


def babble(seconds: float, seed: int, pause_s: float = 0.8) -> np.ndarray:
    """Samples of sounds of 0.2 to 1.5 s, with quiet of up to twice `pause_s` between them."""
    random = np.random.default_rng(seed)
    parts, count = [], 0
    while count < seconds * RATE_HZ:
        parts += [_sound(random), _quiet(random, pause_s * random.uniform(0.2, 2.0))]
        count += sum(map(len, parts[-2:]))
    return np.concatenate(parts)[: round(seconds * RATE_HZ)]


def _sound(random: np.random.Generator) -> np.ndarray:
    """Tones that change ten times a second, with their overtones."""
    tones = random.uniform(100, 3000, random.integers(2, 16))
    phase = np.cumsum(np.repeat(tones, RATE_HZ // 10)) * 2 * np.pi / RATE_HZ
    wave = sum(np.sin(phase * overtone) / overtone for overtone in (1, 2, 3))
    return (0.2 * wave + _quiet(random, len(wave) / RATE_HZ)).astype(np.float32)


def _quiet(random: np.random.Generator, seconds: float) -> np.ndarray:
    return random.normal(0, 1e-3, round(seconds * RATE_HZ)).astype(np.float32)


def _calibrate(model: FastConformerModel) -> None:
    """Have the heads' blanks mean quiet."""
    samples = torch.from_numpy(babble(40.0, seed=7))
    features = model.features(samples)[None]
    languages = torch.tensor([0]) if model.prompt is not None else None
    encoded, _ = model.encode(features, torch.tensor([features.size(1)]), None, languages)
    quiet = _quiet_frames(samples, encoded.size(1))
    if model.ctc is not None:
        _teach(model.ctc.output, encoded[0], quiet)
    if (head := model.transducer) is not None:
        labels = torch.randint(0, len(SYMBOLS), (encoded.size(1),))
        said, _ = head.say(labels, head.predictor.start(len(labels)))
        _teach(head.joint.output, torch.relu(head.hear(encoded[0]) + said), quiet)


def _quiet_frames(samples: Tensor, frames: int) -> Tensor:
    """(T,): whether each is quiet."""
    length = len(samples) // frames
    return samples[: frames * length].view(frames, length).abs().amax(1) < 0.02


def _teach(output: nn.Linear, heard: Tensor, quiet: Tensor) -> None:
    """Have every label be likeliest somewhere in frames (T, D), and the blank where it is quiet."""
    count = len(SYMBOLS)
    loud = heard[~quiet] @ output.weight[:count].T
    output.weight[:count] *= 2 / loud.std(0)[:, None]
    output.bias[:count] = -2 * loud.mean(0) / loud.std(0)
    likeliest = (heard @ output.weight[:count].T + output.bias[:count]).amax(1)
    wanted = likeliest + torch.where(quiet, 8.0, -1.0)
    given = nn.functional.pad(heard, (0, 1), value=1.0).double()
    ridge = torch.eye(given.size(1), dtype=torch.float64)  # or rounding would choose
    row = torch.linalg.solve(given.T @ given + ridge, given.T @ wanted.double())
    output.weight[count], output.bias[count] = row[:-1], row[-1]
    for numbers in (output.weight, output.bias):
        numbers.copy_(numbers.round(decimals=2))  # the same ones on every processor
