"""What an encoder costs beside its decoder: native FastConformers of the two papers' sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from benchmarks.encoder.full_rings import FullRings
from benchmarks.transducer.timed_arms import Clock
from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.choice import chunk_steps

FEATURE_HZ = 100
CONTEXT = AttentionContext(70, 13)
STEPS = 3
MOST_LAYERS, FEW_LAYERS = 24, (3, 9)
"""What is measured whole, and of deeper encoders, which would take 4 GB and more."""
LaneCost = Callable[[int, Clock], float]


def encoder_config(subsampling: int, size: int = 512, layers: int = 17) -> FastConformerConfig:
    """An encoder, 114 million parameters if not said, with streams in chunks of 14 frames."""
    return FastConformerConfig(
        80, size, layers, 8, 4 * size, 256,
        subsampling_factor=subsampling, causal_stem=True, causal_convolution=True,
        normalise="none", contexts=(CONTEXT,), context_style="chunked_limited",
    )  # fmt: skip


def encoder_cost(config: FastConformerConfig) -> LaneCost:
    """Seconds for a second of audio by lanes: measured, or reckoned where layers are many."""
    if config.layers <= MOST_LAYERS:
        return EncoderCost(config)
    few, some = (EncoderCost(replace(config, layers=layers)) for layers in FEW_LAYERS)

    def cost(lanes: int, clock: Clock) -> float:
        less, more = few(lanes, clock), some(lanes, clock)
        layer = (more - less) / (FEW_LAYERS[1] - FEW_LAYERS[0])
        return less + layer * (config.layers - FEW_LAYERS[0])

    return cost


class EncoderCost:
    """An encoder with random weights, and streams whose left context is full."""

    def __init__(self, config: FastConformerConfig) -> None:
        encoder = FastConformerEncoder(config).eval().requires_grad_(False)
        [self._step] = chunk_steps(encoder, config.contexts, config.contexts[0].left)

    def __call__(self, lanes: int, clock: Clock) -> float:
        """Seconds for a second of audio of one stream, of `lanes` in one step; the best of some."""
        rings, taken = FullRings(self._step, lanes), []
        for _ in range(STEPS):
            began = clock()
            rings.move_on()
            taken.append(clock() - began)
        audio_s = self._step.chunk * self._step.config.subsampling_factor / FEATURE_HZ
        return min(taken) / (lanes * audio_s)
