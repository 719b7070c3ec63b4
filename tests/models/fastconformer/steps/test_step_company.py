"""A lane has the same bits in any company, whatever the others are and whoever computes them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
import torch
from odd_encoders import (
    CONTEXTS,
    LONG,
    SLOTS,
    assert_bits,
    bits_of,
    copied,
    full_state,
    native_steps,
    sound,
)

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.steps.chunk_step import ENDLESS
from earshot.models.fastconformer.steps.native_step import NativeChunkStep
from earshot.models.native.precision import Precision

Threads = Callable[[int], None]


def step_in(
    processor: str,
    contexts: tuple[AttentionContext, ...] = LONG,
    spare: int = 3,
    precision: Precision = "float32",
) -> NativeChunkStep:
    capacity = max(context.left for context in contexts) + spare
    return native_steps("layer_norm", processor, contexts, capacity, precision)[0]


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8", "w8a8"])
@pytest.mark.parametrize("contexts", [CONTEXTS, LONG], ids=["short", "long"])
@pytest.mark.parametrize("seed", range(4))
@torch.no_grad()
def test_a_lane_has_the_same_bits_alone_and_in_company(
    processor: str, threads: Threads, contexts, precision: Precision, seed: int
) -> None:
    torch.manual_seed(seed)
    step, chance = step_in(processor, contexts, seed, precision), Random(seed)
    state, slots = full_state(step), torch.tensor(chance.sample(range(SLOTS), SLOTS))
    windows, lengths = sound(
        step, state, slots, [chance.randint(0, step.chunk) for _ in range(SLOTS)]
    )
    threads(1 + seed)
    together = step.hear(state, slots, windows, lengths)
    threads(1)
    for row in range(SLOTS):
        own = slice(row, row + 1)
        alone = step.hear(state, slots[own], windows[own], lengths[own])
        assert_bits(bits_of(together, row), bits_of(alone, 0))


@pytest.mark.parametrize("workers", [2, 3, SLOTS + 2])
@torch.no_grad()
def test_several_workers_give_the_bits_of_one(
    processor: str, threads: Threads, workers: int
) -> None:
    torch.manual_seed(workers)
    step = step_in(processor)
    state, slots = full_state(step), torch.randperm(SLOTS)
    given = sound(step, state, slots, [0, step.chunk, 1, 29, 2])
    threads(1)
    one = step.hear(state, slots, *given)
    threads(workers)
    several = step.hear(state, slots, *given)
    for row in range(SLOTS):
        assert_bits(bits_of(several, row), bits_of(one, row))


@torch.no_grad()
def test_the_order_of_lanes_changes_nothing(processor: str) -> None:
    torch.manual_seed(1)
    step = step_in(processor)
    state, slots, order = full_state(step), torch.arange(SLOTS), torch.randperm(SLOTS)
    windows, lengths = sound(step, state, slots, [51, 52, 24, 1, 30])
    found = step.hear(state, slots, windows, lengths)
    moved = step.hear(state, slots[order], windows[order], lengths[order])
    for row, from_row in enumerate(order.tolist()):
        assert_bits(bits_of(moved, row), bits_of(found, from_row))


@pytest.mark.parametrize("number", [torch.nan, torch.inf, 3e38])
@pytest.mark.parametrize("where", ["windows", "keys", "gated"])
@torch.no_grad()
def test_bad_numbers_of_a_lane_stay_in_that_lane(processor: str, where: str, number: float) -> None:
    torch.manual_seed(2)
    step = step_in(processor)
    state, slots = full_state(step), torch.tensor([4, 2, 0, 3])
    windows, lengths = sound(step, state, slots, [52, 40, 30, 52])
    clean = step.hear(state, slots, windows, lengths)
    {
        "windows": windows[1],
        "keys": state.att_cache[2],
        "gated": state.cnn_cache[2],
    }[where].fill_(number)
    dirty = step.hear(state, slots, windows, lengths)
    assert not torch.equal(dirty.encoded[1], clean.encoded[1])
    for other in (0, 2, 3):
        assert_bits(bits_of(dirty, other), bits_of(clean, other))


@torch.no_grad()
def test_a_number_that_is_none_is_heard_from_where_it_is(processor: str) -> None:
    """By everybody in its chunk: nothing hides it."""
    torch.manual_seed(3)
    step = step_in(processor)
    state, slots = full_state(step), torch.tensor([4])
    windows = torch.randn(1, step.window, 13)
    windows[0, -1, 3] = torch.nan
    assert step.hear(state, slots, windows, torch.tensor([ENDLESS])).encoded.isnan().all()


@torch.no_grad()
def test_what_no_lane_may_hear_changes_nothing(processor: str) -> None:
    torch.manual_seed(4)
    step = step_in(processor)
    state, slots = full_state(step), torch.tensor([1, 4, 0])
    windows, lengths = sound(step, state, slots, [30, 52, 7])
    found = step.hear(state, slots, windows, lengths)
    hidden = copied(state)
    hidden.att_cache[:, :, :, -1] = torch.nan  # where frames are written that nobody wants
    hidden.att_cache[0] = torch.nan  # it has put out nothing
    hidden.att_cache[1, :, :, 1:] = torch.nan  # it has put out one frame
    heard = (6_001 - step.left + torch.arange(step.left)) % step.capacity
    spared = torch.isin(torch.arange(step.capacity + 1), heard, invert=True)
    hidden.att_cache[4, :, :, spared] = torch.nan  # older than all that is heard
    hidden.att_cache[2:4] = hidden.cnn_cache[2:4] = torch.nan  # others' memory
    again = step.hear(hidden, slots, windows, lengths)
    for row in range(len(slots)):
        assert_bits(bits_of(again, row), bits_of(found, row))


@torch.no_grad()
def test_streams_end_up_with_the_same_memory_in_any_company(
    processor: str, threads: Threads
) -> None:
    torch.manual_seed(5)
    step, chance = step_in(processor, CONTEXTS), Random(5)
    state = full_state(step)
    alone = copied(state)
    for turn in range(8):
        slots = torch.tensor(chance.sample(range(SLOTS), 3))
        given = sound(step, state, slots, [chance.randint(0, step.chunk) for _ in range(3)])
        threads(1 + turn % 3)
        step.step(state, slots, *given)
        threads(1)
        for row in range(3):
            own = slice(row, row + 1)
            step.step(alone, slots[own], *(each[own] for each in given))
    state.att_cache[:, :, :, -1] = alone.att_cache[:, :, :, -1] = 0  # what nobody wants
    assert_bits(list(vars(state).values()), list(vars(alone).values()))
