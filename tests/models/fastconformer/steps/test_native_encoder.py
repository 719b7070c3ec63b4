"""The native step must be what torch's is: for every encoder, lane and kind of processor."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from chunked_streams import CONFIG
from hypothesis import example, given, settings
from hypothesis import strategies as st
from odd_encoders import (
    CONTEXTS,
    ENCODERS,
    LONG,
    SLOTS,
    bits_of,
    copied,
    full_state,
    native_steps,
    odd_encoder,
    sound,
)
from torch import Tensor

from earshot.models import _native
from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.chunk_step import ENDLESS, ChunkStep
from earshot.models.fastconformer.steps.native_encoder import NativeEncoder, Reach
from earshot.models.fastconformer.steps.native_step import NativeChunkStep
from earshot.models.fastconformer.steps.state import FastConformerState
from earshot.models.fastconformer.steps.torch_step import TorchChunkStep
from earshot.models.fastconformer.steps.whole_step import NativeWhole
from earshot.models.native.given_up import give_up

CHUNK = max(context.right for context in CONTEXTS) + 1
ROUNDING = 1e-5

Step = tuple[int, dict[int, int]]
STEPS = st.lists(
    st.tuples(
        st.integers(0, len(CONTEXTS) - 1),
        st.permutations(range(SLOTS)).flatmap(
            lambda slots: st.lists(st.integers(0, CHUNK), min_size=1, max_size=SLOTS).map(
                lambda frames: dict(zip(slots, frames, strict=False))
            )
        ),
    ),
    min_size=1,
    max_size=6,
)
"""A context, slots in any order, and how many frames each has left, or a chunk if they are more."""


def assert_steps_are_torchs(
    ours: ChunkStep, torchs: ChunkStep, states: Sequence[FastConformerState], lanes: dict[int, int]
) -> None:
    slots = torch.tensor(list(lanes))
    windows, lengths = sound(
        ours, states[0], slots, [min(count, ours.chunk) for count in lanes.values()]
    )
    found, expected = (
        step.hear(state, slots, windows, lengths)
        for step, state in zip((ours, torchs), states, strict=True)
    )
    assert found.encoded.size(1) == int(found.frames.max())
    for row in range(len(slots)):
        for one, other in zip(bits_of(found, row), bits_of(expected, row), strict=True):
            assert_near(one, other)
        assert not found.encoded[row, int(found.frames[row]) :].any()
    found.keep()
    expected.keep()
    assert_same_memory(*states)


def assert_same_memory(found: FastConformerState, expected: FastConformerState) -> None:
    assert torch.equal(found.offset, expected.offset)
    assert_near(found.att_cache[:, :, :, :-1], expected.att_cache[:, :, :, :-1])
    assert_near(found.cnn_cache, expected.cnn_cache)


def assert_near(found: Tensor, expected: Tensor, tolerance: float = ROUNDING) -> None:
    most = float(expected.abs().amax()) if expected.numel() else 0.0
    torch.testing.assert_close(found, expected, rtol=0, atol=tolerance * max(most, 1.0))


@pytest.mark.parametrize("name", ENCODERS)
@settings(max_examples=10)
@given(spare=st.integers(0, 7), steps=STEPS)
@example(spare=0, steps=[(0, {3: CHUNK, 0: 2}), (0, {0: CHUNK, 3: 1}), (3, {3: 2})])
@example(spare=3, steps=[(0, {1: CHUNK, 4: 3}), (1, {4: 2, 1: 1}), (2, {1: 1, 4: 0})] * 2)
@example(spare=7, steps=[(1, {2: 2, 1: 2, 0: 0})] * 6)
@torch.no_grad()
def test_streams_move_on_as_in_torch(processor: str, name: str, spare: int, steps: list[Step]):
    capacity = max(context.left for context in CONTEXTS) + spare
    ours = native_steps(name, processor, CONTEXTS, capacity)
    torchs = [TorchChunkStep(odd_encoder(name), context, capacity) for context in CONTEXTS]
    torch.manual_seed(len(steps))
    state = full_state(ours[0])
    states = [state, copied(state)]
    for context, lanes in steps:
        assert_steps_are_torchs(ours[context], torchs[context], states, lanes)


@pytest.mark.parametrize("spare", [0, 1, 9])
@torch.no_grad()
def test_chunks_longer_than_a_block_of_rows_are_torchs(processor: str, spare: int):
    capacity = max(context.left for context in LONG) + spare
    ours = native_steps("layer_norm", processor, LONG, capacity)
    torchs = [TorchChunkStep(odd_encoder(), context, capacity) for context in LONG]
    torch.manual_seed(spare)
    state = full_state(ours[0])
    states = [state, copied(state)]
    for context, frames in [
        (0, (52, 31, 0, 25, 13)),
        (1, (1, 1, 1, 0, 1)),
        (0, (7, 52, 1, 24, 48)),
    ]:
        lanes = dict(zip((4, 0, 3, 1, 2), frames, strict=True))
        assert_steps_are_torchs(ours[context], torchs[context], states, lanes)


@torch.no_grad()
def test_a_chunk_without_anything_before_it_is_torchs(processor: str):
    """Rings without a column."""
    context = AttentionContext(0, 3)
    [ours] = native_steps("layer_norm", processor, (context,), 0)
    torchs = TorchChunkStep(odd_encoder(), context, 0)
    torch.manual_seed(1)
    state = ours.start(SLOTS)
    states = [state, copied(state)]
    for frames in (4, 4, 2):
        assert_steps_are_torchs(ours, torchs, states, {3: frames, 1: 4})


@pytest.mark.parametrize("scale", [30, 3_000])
@torch.no_grad()
def test_saturated_gates_are_torchs(processor: str, scale: int):
    encoder = FastConformerEncoder(odd_encoder().config).eval().requires_grad_(False)
    encoder.load_state_dict(odd_encoder().state_dict())
    for layer in encoder.layers:
        layer.feed_forward1.linear1.weight *= scale
        layer.conv.pointwise_conv1.weight *= scale
    context = CONTEXTS[0]
    native = NativeEncoder(encoder, Reach(CHUNK, context.left + CHUNK), processor)
    ours, torchs = (
        NativeChunkStep(encoder, context, None, native),
        TorchChunkStep(encoder, context),
    )
    torch.manual_seed(2)
    state = full_state(ours)
    assert_steps_are_torchs(ours, torchs, [state, copied(state)], dict.fromkeys(range(SLOTS), 5))


@pytest.mark.parametrize(
    ("left", "chunk"), [(CONTEXTS[0].left + 1, CHUNK), (CONTEXTS[0].left - 1, CHUNK + 1)]
)
def test_what_is_beyond_its_reach_is_refused(processor: str, left: int, chunk: int) -> None:
    context = CONTEXTS[0]
    encoder = odd_encoder()
    native = NativeEncoder(encoder, Reach(CHUNK, context.left + CHUNK), processor)
    state = NativeChunkStep(encoder, context, None, native).start(1)
    stem, slots = torch.randn(1, chunk, encoder.config.size), torch.tensor([0])
    with pytest.raises(ValueError, match="beyond Reach"):
        native.hear(stem, torch.tensor([chunk]), state, slots, left)
    assert not state.offset.any()


def test_a_processor_that_is_not_here_is_refused() -> None:
    with pytest.raises(ValueError, match="this processor cannot run abacus"):
        NativeEncoder(odd_encoder(), Reach(1, 1), "abacus")


def test_layers_and_stem_are_built_for_the_processor_that_is_asked_for(
    processor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []
    for name in ("Conv2dStem", "FastConformerStep"):
        build = getattr(_native, name)

        def noting(*, processor, build=build, **others):
            built.append(processor)
            return build(processor=processor, **others)

        monkeypatch.setattr(_native, name, noting)
    NativeEncoder(odd_encoder(), Reach(1, 1), processor)
    NativeWhole(odd_encoder(), 9, processor)
    assert built == [processor] * 4


@torch.no_grad()
def test_what_is_heard_changes_no_memory(processor: str) -> None:
    step = native_steps("layer_norm", processor, CONTEXTS, 9)[0]
    torch.manual_seed(3)
    state, slots = full_state(step), torch.tensor([3, 1, 0])
    before = copied(state)
    step.hear(state, slots, *sound(step, state, slots, [CHUNK, 2, 0]))
    for now, then in zip(vars(state).values(), vars(before).values(), strict=True):
        assert torch.equal(now, then)


@torch.no_grad()
def test_a_step_that_fails_changes_no_memory(processor: str) -> None:
    step = native_steps("layer_norm", processor, CONTEXTS, 9)[0]
    torch.manual_seed(4)
    state, slots = full_state(step), torch.tensor([2, 1])
    before = copied(state)
    windows, lengths = sound(step, state, slots, [CHUNK, CHUNK])
    with pytest.raises(ValueError, match="too short for 6 frames"):
        step.step(state, slots, windows[:, :-1], lengths)
    for now, then in zip(vars(state).values(), vars(before).values(), strict=True):
        assert torch.equal(now, then)


@torch.no_grad()
def test_a_stream_that_stands_still_keeps_its_bits(processor: str) -> None:
    step = native_steps("kernel_longer_than_a_chunk", processor, CONTEXTS, 9)[0]
    torch.manual_seed(5)
    state, slots = full_state(step), torch.randperm(SLOTS)
    before = copied(state)
    encoded, frames = step.step(state, slots, *sound(step, state, slots, [0] * SLOTS))
    assert encoded.shape == (SLOTS, 0, 36)
    assert not frames.any()
    for now, then in zip(vars(state).values(), vars(before).values(), strict=True):
        assert torch.equal(now, then)


REAL = {
    "layers": 2,
    "features_size": 80,
    "stem_channels": 256,
    "subsampling_factor": 8,
    "heads": 8,
    "kernel": 9,
}


@pytest.mark.parametrize(("size", "context"), [(512, (70, 13)), (1024, (70, 0))])
@torch.no_grad()
def test_real_sizes_are_torchs(size: int, context: tuple[int, int]) -> None:
    """Of the fastest kind of processor that there is."""
    torch.manual_seed(6)
    config = replace(CONFIG, **REAL, size=size, feed_forward_size=4 * size)
    encoder = FastConformerEncoder(config).eval().requires_grad_(False)
    own = AttentionContext(*context)
    native = NativeEncoder(encoder, Reach(own.right + 1, own.left + own.right + 1))
    steps = NativeChunkStep(encoder, own, None, native), TorchChunkStep(encoder, own)
    states = [step.start(3) for step in steps]
    for state in states:
        torch.manual_seed(7)
        state.offset[:2] = torch.tensor([7_003, 30])
        state.att_cache[:1].normal_()
        state.att_cache[1, :, :, :30].normal_()
        state.cnn_cache[:2].normal_()
    slots, lengths = torch.tensor([2, 0, 1]), torch.full((3,), ENDLESS)
    for _ in range(2):
        windows = torch.randn(3, steps[0].window, 80)
        found, expected = (
            step.step(state, slots, windows, lengths)[0]
            for step, state in zip(steps, states, strict=True)
        )
        assert_near(found, expected, 1e-4)


@torch.no_grad()
def test_layers_that_were_given_up_are_freed_as_they_are_copied() -> None:
    kept = odd_encoder()
    given = copy.deepcopy(kept)
    give_up(given)
    native = [NativeEncoder(each, Reach(CHUNK, CHUNK), "portable") for each in (kept, given)]
    frames, context = torch.tensor([CHUNK]), AttentionContext(-1, -1)
    stem = torch.randn(1, CHUNK, kept.config.size)
    expected, found = (each.hear_alone(stem, frames, context, in_chunks=False) for each in native)
    assert torch.equal(found, expected)
    assert all(weights.is_meta for weights in given.parameters())
    assert not any(weights.is_meta for weights in kept.parameters())
