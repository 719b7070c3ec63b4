"""Label looping on a GPU: in each mode streams find what the CPU's loop and the papers' do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import torch
from label_heads import CONFIG, HEADS, SIZE, assert_found, expected_of, in_pieces, sound
from torch import Tensor

from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.errors import (
    BackendMissing,
    CapacityExceeded,
    DeviceError,
    InvalidConfig,
    InvalidInput,
)
from earshot.decoder_kernels.transducer.device_loop import DeviceLabelLoop
from earshot.decoder_kernels.transducer.device_loop_config import (
    DeviceLoopConfig,
    LoopMode,
    LoopOrder,
)
from earshot.decoder_kernels.transducer.label_loop import LabelLoop, WalkedChunk
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.transducer.native_loop import label_loop_of, loop_weights_of

STATES = 200
all_orders = pytest.mark.parametrize("order", list(LoopOrder))
all_modes = pytest.mark.parametrize("mode", list(LoopMode))
all_heads = pytest.mark.parametrize("kind", sorted(HEADS))


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """As the engine's thread is."""
    with torch.inference_mode():
        yield


def loop_on(
    device: torch.device,
    head: Transducer,
    mode: LoopMode = LoopMode.KERNEL,
    slots: int = 0,
    **options: Any,
) -> DeviceLabelLoop:
    config = DeviceLoopConfig(**{"max_lanes": 5, "max_frames": 4, **options}, mode=mode)
    return DeviceLabelLoop(loop_weights_of(head), device, config, slots, STATES if slots else 0)


@all_orders
@all_modes
@all_heads
def test_lanes_in_chunks_find_what_the_papers_loop_does_alone(
    gpu_device: torch.device, kind: str, mode: LoopMode, order: LoopOrder
) -> None:
    """More of them than there is room for, in longer chunks."""
    sounds = [sound(count, seed) for seed, count in enumerate((7, 0, 4, 5, 1, 2))]
    loop = loop_on(gpu_device, HEADS[kind], mode, order=order)
    heard = in_pieces(loop, sounds, [3, 0, 6])
    for found, encoded in zip(heard, sounds, strict=True):
        assert_found(found, expected_of(HEADS[kind], encoded), len(encoded))


@all_modes
def test_answers_and_units_of_many_tiles(gpu_device: torch.device, mode: LoopMode) -> None:
    config = replace(CONFIG, vocab_size=300, joint_size=40, predictor_size=40)
    torch.manual_seed(1)
    head = Transducer(config).eval()
    head.joint.output.bias.data[config.blank_id] += 1.0
    sounds = [3 * sound(2, seed) for seed in range(9)]
    for found, encoded in zip(
        in_pieces(loop_on(gpu_device, head, mode, max_lanes=9), sounds, [2]), sounds, strict=True
    ):
        assert_found(found, expected_of(head, encoded), len(encoded))


def test_a_lanes_bits_depend_on_nothing_but_itself(gpu_device: torch.device) -> None:
    """Among as many as need a second word of marks."""
    loop = loop_on(gpu_device, HEADS["tdt"], max_lanes=34)
    sounds = [sound(1 + seed % 3, seed) for seed in range(34)]
    together = walked(loop, sounds)
    for lane in (0, 2, 32, 33):
        [alone] = walked(loop, [sounds[lane]])
        found = together[lane]
        assert torch.equal(found.after.numbers, alone.after.numbers)
        assert replace(found, after=alone.after).__dict__ == alone.__dict__


@all_heads
def test_the_memory_is_the_cpus_but_for_rounding(gpu_device: torch.device, kind: str) -> None:
    on_cpu, on_device = label_loop_of(HEADS[kind]), loop_on(gpu_device, HEADS[kind])
    [expected], [found] = walked(on_cpu, [sound(9, 4)]), walked(on_device, [sound(9, 4)])
    assert found.after.ahead == expected.after.ahead
    assert found.blank_log_probs == pytest.approx(expected.blank_log_probs, abs=1e-5)
    assert torch.allclose(found.after.numbers.cpu(), expected.after.numbers, atol=1e-5)


@all_modes
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_lane_that_is_not_finite_is_left_out_alone(
    gpu_device: torch.device, mode: LoopMode, value: float
) -> None:
    loop, bad = loop_on(gpu_device, HEADS["tdt"], mode), sound(6, 1)
    bad[3] = value
    good = [sound(5, seed) for seed in range(3)]
    found = loop([good[0], bad, *good[1:]], [loop.begin()] * 4)
    assert [each is None for each in found] == [False, True, False, False]
    told = [each.tokens for each in found if each is not None]
    assert told == [expected_of(HEADS["tdt"], encoded).tokens for encoded in good]


@all_orders
@all_modes
@pytest.mark.parametrize("kind", ["rnnt", "tdt"])
def test_boosts_choose_the_labels_that_they_choose_on_the_cpu(
    gpu_device: torch.device, kind: str, mode: LoopMode, order: LoopOrder
) -> None:
    tables = [random_table(HEADS[kind], seed) for seed in range(3)]
    loops: list[LabelLoop | DeviceLabelLoop] = [
        label_loop_of(HEADS[kind], num_slots=3, boost_capacity=STATES),
        loop_on(gpu_device, HEADS[kind], mode, slots=3, order=order),
    ]
    results = []
    for loop in loops:
        for slot, table in enumerate(tables):
            loop.set_boost(slot, table)
        first = walked(loop, [sound(5, slot) for slot in range(3)], slots=[2, 0, 1])
        then = [each.after for each in first]
        second = loop([sound(3, 9)] * 3, then, [2, 0, 1])
        results.append([(each.tokens, each.after.boost_state) for each in second if each])
        results[-1] += [(each.tokens, each.after.boost_state) for each in first]
    assert results[0] == results[1]
    assert len(results[0]) == 6


def random_table(head: Transducer, seed: int) -> BoostTable:
    chance = torch.Generator().manual_seed(seed)
    labels = head.config.vocab_size

    def drawn(most: int) -> int:
        return int(torch.randint(most, (), generator=chance))

    phrases = [
        BoostPhrase(tuple(drawn(labels) for _ in range(1 + drawn(3))), (-1.0, 0.5, 2.0, 6.0)[i])
        for i in range(4)
    ]
    return BoostTable.compile(phrases, labels)


@pytest.mark.parametrize("kind", ["rnnt", "tdt"])
def test_heads_of_half_as_many_bits_are_computed_in_float32(
    gpu_device: torch.device, kind: str
) -> None:
    head = deepcopy(HEADS[kind]).bfloat16()
    [expected] = walked(label_loop_of(head), [sound(9, 4)])
    [found] = walked(loop_on(gpu_device, head), [sound(9, 4)])
    assert found.tokens == expected.tokens != []
    assert torch.allclose(found.after.numbers.cpu(), expected.after.numbers, atol=1e-5)


def test_a_chunk_of_another_type_changes_no_other(gpu_device: torch.device) -> None:
    loop = loop_on(gpu_device, HEADS["tdt"])
    [alone] = walked(loop, [sound(5, 1)])
    assert walked(loop, [sound(5, 0).half(), sound(5, 1)])[1].log_probs == alone.log_probs


def test_a_duration_that_never_comes_is_no_fault(gpu_device: torch.device) -> None:
    head = deepcopy(HEADS["tdt"])
    head.joint.output.bias.data[-1] = -float("inf")
    [expected] = walked(label_loop_of(head), [sound(9, 4)])
    [found] = walked(loop_on(gpu_device, head), [sound(9, 4)])
    assert (found.tokens, found.durations) == (expected.tokens, expected.durations)


def test_memories_go_on_from_one_loop_in_the_other(gpu_device: torch.device) -> None:
    loops = [label_loop_of(HEADS["tdt"]), loop_on(gpu_device, HEADS["tdt"])]
    expected = expected_of(HEADS["tdt"], sound(8, 2))
    for first, then in (loops, loops[::-1]):
        [begun] = walked(first, [sound(8, 2)[:4]])
        [ended] = [each for each in then([sound(8, 2)[4:]], [begun.after]) if each]
        assert begun.tokens + ended.tokens == expected.tokens


def test_boosts_that_come_back_after_an_empty_chunk_begin_anew(gpu_device: torch.device) -> None:
    loop = loop_on(gpu_device, HEADS["rnnt"], slots=1)
    loop.set_boost(0, random_table(HEADS["rnnt"], 0))
    memory = replace(loop.begin(), boost_state=1, boosts=random_table(HEADS["rnnt"], 1).fingerprint)
    [found] = [each for each in loop([sound(0, 0)], [memory], [0]) if each]
    [walked_on] = [each for each in loop([sound(1, 0)], [memory], [0]) if each]
    assert found.after.boost_state == 0
    assert found.after.boosts == walked_on.after.boosts


@pytest.mark.parametrize("joint_size", [1600, 7600])
def test_heads_that_take_much_shared_memory_are_walked_or_refused_by_name(
    gpu_device: torch.device, joint_size: int
) -> None:
    head = Transducer(replace(CONFIG, joint_size=joint_size)).eval()
    encoded = sound(1, 0)
    if joint_size == 1600:
        [found] = walked(loop_on(gpu_device, head, max_lanes=1), [encoded])
        assert found.tokens == expected_of(head, encoded).tokens
    else:
        with pytest.raises(DeviceError, match="shared memory; a block of this device has"):
            loop_on(gpu_device, head, LoopMode.FULL_GRAPH)
        walked(loop_on(gpu_device, HEADS["rnnt"]), [encoded])


def test_a_memory_for_each_chunk_is_asked_for(gpu_device: torch.device) -> None:
    loop = loop_on(gpu_device, HEADS["rnnt"])
    walked(loop, [sound(1, 0)])
    with pytest.raises(ValueError, match="zip"):
        loop([sound(1, 0)] * 2, [loop.begin()])


@pytest.mark.no_launch
def test_a_table_that_does_not_fit_is_refused(gpu_device: torch.device) -> None:
    loop = loop_on(gpu_device, HEADS["sigmoid"], slots=1)
    phrases = [BoostPhrase((one, other), 1.0) for one in range(17) for other in range(17)]
    with pytest.raises(CapacityExceeded):
        loop.set_boost(0, BoostTable.compile(phrases, 17))


@pytest.mark.no_launch
@pytest.mark.parametrize("shape", [(4,), (2, SIZE + 1), (2, 2, SIZE)])
def test_chunks_of_another_size_are_refused(
    gpu_device: torch.device, shape: tuple[int, ...]
) -> None:
    loop = loop_on(gpu_device, HEADS["rnnt"])
    with pytest.raises(InvalidInput, match="chunks must be"):
        loop([torch.zeros(shape)], [loop.begin()])


@pytest.mark.no_launch
def test_nobody_says_nothing(gpu_device: torch.device) -> None:
    loop = loop_on(gpu_device, HEADS["rnnt"])
    assert loop([], []) == []
    [found] = walked(loop, [sound(0, 0)])
    assert found.tokens == found.blank_log_probs == []


def test_a_cpu_has_no_loop_of_kernels() -> None:
    with pytest.raises(BackendMissing, match="for GPUs"):
        loop_on(torch.device("cpu"), HEADS["rnnt"])


@pytest.mark.parametrize("name", ["max_lanes", "max_frames", "block_threads"])
def test_sizes_that_make_no_loop_are_refused(name: str) -> None:
    with pytest.raises(InvalidConfig):
        DeviceLoopConfig(**{"max_lanes": 4, name: 0})


@pytest.mark.parametrize(("lanes", "ladder"), [(1, [1]), (4, [1, 2, 4]), (5, [1, 2, 4, 5])])
def test_graphs_are_made_for_powers_of_two_and_for_all(lanes: int, ladder: list[int]) -> None:
    assert DeviceLoopConfig(max_lanes=lanes).ladder == ladder


def walked(
    loop: LabelLoop | DeviceLabelLoop,
    chunks: Sequence[Tensor],
    slots: Sequence[int] | None = None,
) -> list[WalkedChunk]:
    """From nothing that was said."""
    found = loop(chunks, [loop.begin()] * len(chunks), slots)
    return [each for each in found if each is not None]
