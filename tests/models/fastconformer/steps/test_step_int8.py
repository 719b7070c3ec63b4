"""Steps in int8: of weights that were stored as int8 they lose little, in w8a8 some more."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from chunked_streams import make_encoder
from int8_networks import APART, assert_near, stored
from odd_encoders import ODD, SLOTS, copied, full_state, sound
from torch import Tensor

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.steps.chunk_step import HeardChunk
from earshot.models.fastconformer.steps.native_encoder import NativeEncoder, Reach
from earshot.models.fastconformer.steps.native_step import NativeChunkStep
from earshot.models.native.precision import Precision

CONTEXT = AttentionContext(12, 5)


@pytest.mark.parametrize("precision", APART)
@pytest.mark.parametrize("kind", ["dw_striding", "striding"])
@pytest.mark.parametrize("norm", ["layer_norm", "batch_norm"])
@torch.no_grad()
def test_a_step_loses_little(processor: str, kind: str, norm: str, precision: Precision) -> None:
    torch.manual_seed(2)
    encoder = make_encoder(replace(ODD, subsampling=kind, conv_norm=norm))
    stored(encoder)

    def step_in(own: Precision) -> NativeChunkStep:
        native = NativeEncoder(encoder, Reach(6, 18), processor, own)
        return NativeChunkStep(encoder, CONTEXT, None, native)

    step = step_in("float32")
    state, slots = full_state(step), torch.randperm(SLOTS)
    given = sound(step, state, slots, [6] * SLOTS)

    def heard(own: Precision) -> HeardChunk:
        return step_in(own).hear(copied(state), slots, *given)

    def encoded(own: Precision) -> Tensor:
        return heard(own).encoded

    def columns(own: Precision) -> Tensor:
        return heard(own).columns

    for found in (encoded, columns):
        assert_near(precision, found)
