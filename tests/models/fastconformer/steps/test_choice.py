"""Each encoder takes the steps that are there for it."""

from __future__ import annotations

import copy

import pytest
import torch
from chunked_streams import CONTEXTS, ENCODER, Stream, run, whole
from torch import Tensor

from earshot.models import _native
from earshot.models.errors import NotStreamable
from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.steps import native_encoder
from earshot.models.fastconformer.steps.choice import chunk_steps, whole_step
from earshot.models.fastconformer.steps.native_step import NativeChunkStep
from earshot.models.fastconformer.steps.torch_step import TorchChunkStep
from earshot.models.fastconformer.steps.whole_step import NativeWhole

CAPACITY = 7


def test_an_encoder_on_a_cpu_steps_natively_in_all_its_contexts() -> None:
    steps = chunk_steps(ENCODER, CONTEXTS, CAPACITY)
    assert all(isinstance(step, NativeChunkStep) for step in steps)
    assert [(step.left, step.chunk) for step in steps] == [(6, 3), (6, 1), (0, 2)]
    assert {step.capacity for step in steps} == {CAPACITY}


def test_steps_in_several_contexts_share_their_weights(monkeypatch) -> None:
    built = []
    build = native_encoder.NativeEncoder.__init__

    def noting(self, *arguments, **named) -> None:
        built.append(self)
        build(self, *arguments, **named)

    monkeypatch.setattr(native_encoder.NativeEncoder, "__init__", noting)
    chunk_steps(ENCODER, CONTEXTS, CAPACITY)
    assert len(built) == 1


@pytest.mark.parametrize("other", ["float64", "meta"])
def test_an_encoder_in_other_numbers_or_elsewhere_steps_in_torch(other: str) -> None:
    encoder = copy.deepcopy(ENCODER)
    encoder = encoder.double() if other == "float64" else encoder.to("meta")
    steps = chunk_steps(encoder, CONTEXTS, CAPACITY)
    assert all(isinstance(step, TorchChunkStep) for step in steps)
    assert [(step.left, step.chunk, step.capacity) for step in steps] == [
        (6, 3, CAPACITY), (6, 1, CAPACITY), (0, 2, CAPACITY),
    ]  # fmt: skip
    assert whole_step(encoder, 50) is encoder


@pytest.mark.parametrize("capacity", [6, CAPACITY])
def test_steps_reach_as_far_as_each_of_their_contexts(capacity: int) -> None:
    for step, context in zip(chunk_steps(ENCODER, CONTEXTS, capacity), CONTEXTS, strict=True):
        stream = Stream(torch.randn(90, 20), 0)
        run(step, [stream])
        expected = whole(ENCODER, stream.features, context)
        torch.testing.assert_close(torch.cat(stream.encoded), expected, rtol=0, atol=1e-5)


def test_an_encoder_without_a_chunk_step_has_none_natively() -> None:
    with pytest.raises(NotStreamable):
        chunk_steps(ENCODER, [AttentionContext(-1, 2)], CAPACITY)


@torch.no_grad()
def test_whole_utterances_on_a_cpu_are_heard_natively() -> None:
    step = whole_step(ENCODER, 50)
    assert isinstance(step, NativeWhole)
    features, lengths = torch.randn(2, 50, 20), torch.tensor([50, 9])
    found, counts = step(features, lengths)
    expected, _ = ENCODER(features, lengths)
    for row, count in enumerate(counts.tolist()):
        torch.testing.assert_close(found[row, :count], expected[row, :count], rtol=0, atol=1e-5)


@pytest.fixture
def precisions(monkeypatch) -> set[object]:
    """Of all weights that are packed."""
    found: set[object] = set()
    build = _native.LinearWeights

    def noting(weight: Tensor, bias: Tensor, precision: object) -> object:
        found.add(precision)
        return build(weight, bias, precision)

    monkeypatch.setattr(_native, "LinearWeights", noting)
    return found


def test_native_steps_have_the_precision_that_is_asked_for(precisions) -> None:
    kinds = _native.Precision
    chunk_steps(ENCODER, CONTEXTS, CAPACITY)
    whole_step(ENCODER, 50)
    assert precisions == {kinds.float32}
    precisions.clear()
    chunk_steps(ENCODER, CONTEXTS, CAPACITY, "bfloat16")
    assert precisions == {kinds.float32, kinds.bfloat16}  # the first convolution is never rounded
    precisions.clear()
    whole_step(ENCODER, 50, "bfloat16")
    assert precisions == {kinds.float32, kinds.bfloat16}
