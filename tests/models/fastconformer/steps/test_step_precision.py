"""Steps in bfloat16: torch's numbers, where torch rounds what linear layers multiply."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch
from chunked_streams import make_encoder
from odd_encoders import ODD, SLOTS, copied, full_state, sound
from torch import Tensor
from torch.nn import functional

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.steps.native_encoder import NativeEncoder, Reach
from earshot.models.fastconformer.steps.native_stem import NativeConv2dStem
from earshot.models.fastconformer.steps.native_step import NativeChunkStep
from earshot.models.fastconformer.steps.torch_step import TorchChunkStep

CONTEXT = AttentionContext(12, 5)
KINDS = {"dw_striding": {"size": 64, "heads": 4}, "striding": {"scale_input": False}}
"""What scales the input is a power of two, or is not there: it is rounded with the weights."""


@contextmanager
def rounding() -> Iterator[None]:
    """Inside, torch rounds weights and inputs of all layers but those of one channel a kernel."""
    linear, conv2d = functional.linear, functional.conv2d

    def rounded_linear(given, weight, bias=None):
        return linear(rounded(given), rounded(weight), bias)

    def rounded_conv2d(given, weight, *others, **named):
        if weight.size(1) > 1:
            given, weight = rounded(given), rounded(weight)
        return conv2d(given, weight, *others, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(functional, "linear", rounded_linear)
        patch.setattr(functional, "conv2d", rounded_conv2d)
        yield


def rounded(tensor: Tensor) -> Tensor:
    return tensor.bfloat16().float()


def assert_rounded(found: Tensor, expected: Tensor, exact: Tensor) -> None:
    """Near what rounding gives, much nearer than to what is not rounded.

    Sums in another order may round the next layer's input to a neighbour, here and there.
    """
    assert (found - expected).abs().mean() < (found - exact).abs().mean() / 8


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_a_stem_rounds_what_its_layers_multiply_but_the_first(processor: str, kind: str) -> None:
    torch.manual_seed(1)
    encoder = make_encoder(replace(ODD, subsampling=kind, **KINDS[kind]))
    stem, lengths = encoder.pre_encode, torch.full((3,), 999)
    windows, firsts = torch.randn(3, stem.window_size(9), 13), torch.full((3,), 50)
    native = NativeConv2dStem(encoder, processor, "bfloat16")
    found = native(windows, firsts, lengths, torch.full((3,), 9))
    exact = encoder.scaled(stem.of_windows(windows, firsts, lengths))
    with rounding():
        expected = encoder.scaled(stem.of_windows(windows, firsts, lengths))
    assert_rounded(found, expected, exact)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", ["layer_norm", "batch_norm"])
@torch.no_grad()
def test_a_step_rounds_what_its_linear_layers_multiply(
    processor: str, kind: str, norm: str
) -> None:
    torch.manual_seed(2)
    encoder = make_encoder(replace(ODD, subsampling=kind, conv_norm=norm, **KINDS[kind]))
    native = NativeEncoder(encoder, Reach(6, 18), processor, "bfloat16")
    ours, torchs = (
        NativeChunkStep(encoder, CONTEXT, None, native),
        TorchChunkStep(encoder, CONTEXT),
    )
    state, slots = full_state(ours), torch.randperm(SLOTS)
    given = sound(ours, state, slots, [6] * SLOTS)
    found, exact = (step.hear(copied(state), slots, *given) for step in (ours, torchs))
    with rounding():
        expected = torchs.hear(copied(state), slots, *given)
    assert_rounded(found.encoded, expected.encoded, exact.encoded)
    assert_rounded(found.columns, expected.columns, exact.columns)
    assert_rounded(found.gated, expected.gated, exact.gated)
