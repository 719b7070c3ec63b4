"""A streaming transducer of NeMo's size with random weights, whose head speaks of real recordings.

Branches of random layers drown what they are added to, and attention then makes all frames alike:
so they are smaller here. The stem's first kernels see differences alone, since features all lie far
below zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from benchmarks.transducer.decoding import Batch
from benchmarks.transducer.speaking_heads import SEED, head_for
from earshot.models.config import FeatureConfig
from earshot.models.fastconformer.config import (
    AttentionContext,
    FastConformerConfig,
    FastConformerModelConfig,
)
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.transducer_config import TransducerConfig

LEFT = 70
RIGHTS = (13, 6, 1, 0)
"""Of the contexts: chunks of 1.12 s, 560, 160 and 80 ms."""
VOCABULARY, PREDICTOR = 1024, 640
FRAMES_HZ = 12.5
GAINS = {"linear_out": 0.2, "linear2": 0.5, "pointwise_conv2": 0.5}
"""Of the layers that end a branch."""
BIAS, POSITION_BIAS, NORM = 0.1, 0.5, 0.1
"""How much biases deviate, those of positions, and norms' weights from 1."""
RIDGE = 1.0
"""Added to the frames' covariance before they are whitened, in mean variances."""


@dataclass(frozen=True)
class NetworkSize:
    """Of an encoder of `layers` of `size`, and of the LSTM beside it."""

    size: int
    layers: int
    mels: int
    predictor_layers: int


SIZES = {"114m": NetworkSize(512, 17, 80, 1), "600m": NetworkSize(1024, 24, 128, 2)}
"""NeMo's, by their millions of parameters."""
HEADS, FEED_FORWARD, STEM_CHANNELS = 8, 4, 256
"""Heads, width of the feed-forward layers in the encoder's, and channels of the stem, of both."""


def model_config(name: str = "114m") -> FastConformerModelConfig:
    """An RNN-T of one of the `SIZES`."""
    asked = SIZES[name]
    return FastConformerModelConfig(
        VOCABULARY,
        FastConformerConfig(
            asked.mels, asked.size, asked.layers, HEADS, FEED_FORWARD * asked.size, STEM_CHANNELS,
            causal_stem=True, causal_convolution=True, conv_norm="layer_norm", normalise="none",
            contexts=tuple(AttentionContext(LEFT, right) for right in RIGHTS),
            context_style="chunked_limited",
        ),
        FeatureConfig(kind="nemo", num_mel_bins=asked.mels),
        TransducerConfig(VOCABULARY, asked.size, PREDICTOR, PREDICTOR, asked.predictor_layers),
    )  # fmt: skip


@torch.inference_mode()
def speaking_model(
    config: FastConformerModelConfig,
    recordings: Sequence[Tensor],
    held: Sequence[Tensor],
    seed: int = SEED,
) -> FastConformerModel:
    """A network whose head finds LABELS_HZ labels a second of what is held.

    recordings, held: (N_i,) samples each; the head is fitted to the first, and hears more labels in
    them than in others. Raises RuntimeError where it cannot be made to.
    """
    assert config.transducer is not None
    torch.manual_seed(seed)
    model = FastConformerModel(config).eval().requires_grad_(False)
    _draw(model.encoder)
    _settle_stem(model, recordings)
    frames = torch.cat([_encoded(model, each) for each in recordings])
    mean, whiten = _whitening(frames)
    heard = [(_encoded(model, each) - mean) @ whiten for each in held]
    batch = Batch(pad_sequence(heard, batch_first=True), list(map(len, heard)), FRAMES_HZ)
    head = head_for(config.transducer, batch, (frames - mean) @ whiten, seed)
    joint = head.joint.encoder
    joint.bias.sub_(joint.weight @ (whiten @ mean))
    joint.weight.copy_(joint.weight @ whiten)
    model.transducer = head
    return model


def _draw(encoder: nn.Module) -> None:
    """Draw weights that leave vectors about as long as they were."""
    for name, weight in encoder.named_parameters():
        if weight.dim() == 1:
            norm = "norm" in name and name.endswith("weight")
            weight.normal_(1.0, NORM) if norm else weight.normal_(std=BIAS)
        elif "bias_" in name:
            weight.normal_(std=POSITION_BIAS)
        else:
            gain = GAINS.get(name.split(".")[-2], 1.0)
            weight.normal_(std=gain / math.sqrt(weight[0].numel()))


def _settle_stem(model: FastConformerModel, recordings: Sequence[Tensor]) -> None:
    """Have the stem see differences, and the layers' input be 0 in the mean and deviate by 1."""
    first, out = model.encoder.pre_encode.conv[0], model.encoder.pre_encode.out
    assert isinstance(first, nn.Conv2d)
    first.weight.sub_(first.weight.mean((2, 3), keepdim=True))
    stems = [model.encoder.stem(*_features(model, each))[0][0] for each in recordings]
    frames = torch.cat(stems)
    mean = frames.mean(0)
    scale = 1 / (frames - mean).square().mean().sqrt()
    out.bias.sub_(mean / model.encoder.scaled(torch.ones(1))).mul_(scale)
    out.weight.mul_(scale)


def _encoded(model: FastConformerModel, samples: Tensor) -> Tensor:
    """Frames (T', D) of samples (N,)."""
    encoded, _ = model.encode(*_features(model, samples))
    return encoded[0]


def _features(model: FastConformerModel, samples: Tensor) -> tuple[Tensor, Tensor]:
    features = model.features(samples)[None]
    return features, torch.tensor([features.size(1)])


def _whitening(frames: Tensor) -> tuple[Tensor, Tensor]:
    """Of frames (N, D) the mean (D,), and (D, D) after which dimensions vary alike, together 1."""
    mean = frames.mean(0)
    covariance = (frames - mean).T @ (frames - mean) / len(frames)
    values, vectors = torch.linalg.eigh(covariance)
    scales = (values.clamp(min=0) + RIDGE * values.mean()).rsqrt()
    return mean, vectors @ torch.diag(scales) @ vectors.T
