"""A FastConformer on a CPU: `csrc/encoders/fast_conformer_step.h` from its modules.

Same numbers as in torch up to rounding, which no other lane changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.models import _native
from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.layer import FastConformerLayer
from earshot.models.fastconformer.positions import relative_positions
from earshot.models.fastconformer.steps.native_layers import layer_weights
from earshot.models.fastconformer.steps.native_stem import NativeConv2dStem
from earshot.models.fastconformer.steps.state import FastConformerState
from earshot.models.native.given_up import copy_and_free, free_copied
from earshot.models.native.precision import Precision
from earshot.models.native.weights import processors
from earshot.native.dlpack import dlpack_capsule


@dataclass(frozen=True)
class Reach:
    """How far apart the frames of a step may be.

    queries: of a chunk at most. keys: that a chunk hears at most, itself among them.
    """

    queries: int
    keys: int


class NativeEncoder:
    """Stem and layers whose weights were copied, and freed layer by layer of who gave them up.

    encoder: on the CPU, in float32; its layers may wait for their weights. processor: one of
    `processors()`, by default the fastest. precision: of linear layers.
    """

    def __init__(
        self,
        encoder: FastConformerEncoder,
        reach: Reach,
        processor: str | None = None,
        precision: Precision = "float32",
    ) -> None:
        config = encoder.config
        self._reach = reach
        self.stem = NativeConv2dStem(encoder, processor, precision)
        self._step = _native.FastConformerStep(
            size=config.size,
            heads=config.heads,
            reach=reach.keys - 1,
            causal=config.causal_convolution,
            processor=processor or processors()[0],
        )
        like = encoder.pre_encode.out.weight.new_empty(0, config.size)
        positions = relative_positions(reach.queries, reach.keys, like)
        for layer in encoder.layers:
            assert isinstance(layer, FastConformerLayer)
            self._step.add(
                copy_and_free(layer, lambda own: layer_weights(own, positions, precision))
            )
        free_copied(encoder.pre_encode)

    def hear(
        self, stem: Tensor, frames: Tensor, state: FastConformerState, slots: Tensor, left: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Chunks of the streams in `slots` (B,), with at most `left` frames that each remembers.

        stem (B, T', D), of which `frames` (B,) are real. Returns frames (B, T', D), columns
        (B, N, h, T', 2 d_k) and gated frames (B, N, k - 1, D), see `HeardChunk`. Raises ValueError
        where that is further than the encoder reaches.
        """
        lanes, size = stem.shape[:2]
        self._require(size, left + size)
        encoded = torch.zeros_like(stem)
        columns = stem.new_zeros(lanes, *state.att_cache.shape[1:3], size, state.att_cache.size(4))
        gated = stem.new_empty(lanes, *state.cnn_cache.shape[1:])
        self._step.run(
            dlpack_capsule(stem),
            dlpack_capsule(frames),
            left,
            dlpack_capsule(slots),
            dlpack_capsule(state.offset),
            dlpack_capsule(state.att_cache),
            dlpack_capsule(state.cnn_cache),
            dlpack_capsule(encoded),
            dlpack_capsule(columns),
            dlpack_capsule(gated),
            torch.get_num_threads(),
        )
        return encoded, columns, gated

    def hear_alone(
        self, stem: Tensor, frames: Tensor, context: AttentionContext, *, in_chunks: bool
    ) -> Tensor:
        """Utterances (B, T', D) of `frames` (B,) each, to frames (B, T', D).

        Raises ValueError for one that is longer than the encoder reaches.
        """
        self._require(stem.size(1), stem.size(1))
        encoded = torch.zeros_like(stem)
        self._step.run_alone(
            dlpack_capsule(stem),
            dlpack_capsule(frames),
            context.left,
            context.right,
            in_chunks,
            dlpack_capsule(encoded),
            torch.get_num_threads(),
        )
        return encoded

    def _require(self, queries: int, keys: int) -> None:
        if queries > self._reach.queries or keys > self._reach.keys:
            raise ValueError(f"{queries} frames that hear {keys} are beyond {self._reach}")
