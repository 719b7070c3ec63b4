"""Streams that are cut into chunks as an engine does it, and what they should hear."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.chunk_step import ENDLESS, ChunkStep
from earshot.models.fastconformer.steps.state import FastConformerState

CONTEXTS = (AttentionContext(6, 2), AttentionContext(6, 0), AttentionContext(0, 1))
CONFIG = FastConformerConfig(
    features_size=20,
    size=16,
    layers=3,
    heads=2,
    feed_forward_size=24,
    stem_channels=6,
    causal_stem=True,
    kernel=4,
    conv_norm="layer_norm",
    causal_convolution=True,
    normalise="none",
    contexts=CONTEXTS,
    context_style="chunked_limited",
)


def make_encoder(config: FastConformerConfig = CONFIG) -> FastConformerEncoder:
    torch.manual_seed(3)
    encoder = FastConformerEncoder(config).eval().requires_grad_(False)
    for parameter in encoder.parameters():  # zeros, as biases begin, hide mistakes
        parameter.normal_(std=0.4)
    for name, buffer in encoder.named_buffers():  # so do the statistics of batch norms
        if name.endswith("running_mean"):
            buffer.normal_(std=0.4)
        elif name.endswith("running_var"):
            buffer.uniform_(0.3, 3.0)
    return encoder


ENCODER = make_encoder()


class Stream:
    """One stream in a slot: features (T, F), and what came out of them so far."""

    def __init__(self, features: Tensor, slot: int) -> None:
        self.features, self.slot = features, slot
        self.encoded: list[Tensor] = []

    def wants(self, step: ChunkStep) -> bool:
        return sum(map(len, self.encoded)) < int(
            step.stem.encoded_length(torch.tensor(len(self.features)))
        )

    def window(self, step: ChunkStep) -> Tensor:
        """Features of the next chunk; NaN where there are none, which nobody may hear."""
        rate, first = step.config.subsampling_factor, sum(map(len, self.encoded))
        before, after = step.window_before, step.window
        padded = functional.pad(self.features, (0, 0, before, after), value=torch.nan)
        return padded[rate * first :][: step.window]

    def length(self, step: ChunkStep) -> int:
        """Feature frames, as soon as the window holds the last."""
        rate, first = step.config.subsampling_factor, sum(map(len, self.encoded))
        stop = rate * first - step.window_before + step.window
        return len(self.features) if stop >= len(self.features) else ENDLESS


def run(
    step: ChunkStep, streams: Sequence[Stream], state: FastConformerState | None = None
) -> None:
    """Chunks of all streams in turn, in as large a company as there is."""
    state = state or step.start(1 + max(stream.slot for stream in streams))
    while now := [stream for stream in streams if stream.wants(step)]:
        slots = torch.tensor([stream.slot for stream in now])
        lengths = torch.tensor([stream.length(step) for stream in now])
        windows = torch.stack([stream.window(step) for stream in now])
        found, frames = step.step(state, slots, windows, lengths)
        for stream, row, count in zip(now, found, frames.tolist(), strict=True):
            stream.encoded.append(row[:count])


def whole(encoder: FastConformerEncoder, features: Tensor, context: AttentionContext) -> Tensor:
    encoded, lengths = encoder(features[None], torch.tensor([len(features)]), context)
    return encoded[0, : int(lengths)]
