"""What the encoder costs beside a decoder: a FastConformer of 114 million parameters, native."""

from __future__ import annotations

from benchmarks.encoder.full_rings import FullRings
from benchmarks.transducer.timed_arms import Clock
from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.choice import chunk_steps

FEATURE_HZ = 100
CONTEXT = AttentionContext(70, 13)
STEPS = 3


def encoder_config(subsampling: int) -> FastConformerConfig:
    """Shape L with streams in chunks of 14 frames."""
    return FastConformerConfig(
        80, 512, 17, 8, 2048, 256,
        subsampling_factor=subsampling, causal_stem=True, causal_convolution=True,
        normalise="none", contexts=(CONTEXT,), context_style="chunked_limited",
    )  # fmt: skip


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
