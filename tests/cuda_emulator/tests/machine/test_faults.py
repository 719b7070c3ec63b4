"""What kernels must not do is found, with its place; what they may do is not."""

import ctypes

import pytest
import torch
from emulator import Emulator, Settings
from probe import ProbeFailed, ProbeSize, line_of, probe

pytestmark = pytest.mark.emulated

SIZE = ProbeSize()
TWO_BLOCKS = ProbeSize(blocks=2)

FAULTS = {
    "reads_behind_an_allocation": "reads 4 bytes outside all allocations",
    "writes_before_an_allocation": "writes 4 bytes outside all allocations",
    "writes_behind_shared_memory": "writes 4 bytes outside all allocations",
    "reads_unwritten_shared_memory": "reads shared memory that nobody has written",
    "is_not_aligned": "writes 8 bytes at an address that is not aligned",
    "meets_at_two_barriers": "threads of a block wait at two barriers",
    "leaves_some_waiting": "threads of a block have ended while others wait",
    "lacks_a_barrier": "conflict: a read after a write",
    "lacks_a_barrier_in_shared_memory": "conflict|nobody has written",
    "adds_without_atomics": "conflict: ",
    "publishes_without_a_fence": "conflict: ",
    "reads_without_a_fence": "conflict: ",
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(emulator: Emulator, name: str) -> None:
    with pytest.raises(ProbeFailed, match=FAULTS[name]):
        probe(emulator, name, SIZE)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", [name for name in FAULTS if "fence" not in name])
def test_a_fault_is_found_in_any_order(emulator: Emulator, name: str, seed: int) -> None:
    emulator.restart(Settings(seed=seed, mean_slice=3, blocks_together=2, delays_stores=True))
    with pytest.raises(ProbeFailed, match=FAULTS[name].split(":")[0]):
        probe(emulator, name, SIZE)


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize(
    "name",
    [
        "adds_with_atomics",
        "waits_for_another_thread",
        "nothing_wrong",
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_is_right_is_no_fault(emulator: Emulator, name: str, blocks: int, seed: int) -> None:
    emulator.restart(Settings(seed=seed, mean_slice=5, blocks_together=2, delays_stores=True))
    probe(emulator, name, ProbeSize(blocks=blocks))


@pytest.mark.parametrize("name", ["publishes_with_fences", "publishes_by_release_and_acquire"])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_published_in_order_is_no_fault(emulator: Emulator, name: str, seed: int) -> None:
    emulator.restart(Settings(seed=seed, mean_slice=2, delays_stores=True))
    found = probe(emulator, name, SIZE)
    assert set(found[2:]) <= {0, 7}


def test_the_place_is_said(emulator: Emulator) -> None:
    place = f"probes.cu:{line_of('memory[-1] = 1;')}"
    with pytest.raises(ProbeFailed, match=place):
        probe(emulator, "writes_before_an_allocation", SIZE)


def test_reading_what_nobody_has_written_is_a_fault(emulator: Emulator) -> None:
    memory = torch.empty(SIZE.memory_ints, dtype=torch.int32, device=emulator.device)
    with pytest.raises(ProbeFailed, match="global memory that nobody has written"):
        probe(emulator, "reads_unwritten_memory", SIZE, memory)


def test_blocks_of_one_launch_are_not_ordered(emulator: Emulator) -> None:
    probe(emulator, "two_blocks_write_one_place", SIZE)
    with pytest.raises(ProbeFailed, match="accesses of two blocks"):
        probe(emulator, "two_blocks_write_one_place", TWO_BLOCKS)


def test_a_late_store_is_seen_without_a_fence(emulator: Emulator) -> None:
    seeds = range(1, 60)
    assert any(seen_too_early(emulator, "publishes_without_a_fence", seed) for seed in seeds)
    assert not any(seen_too_early(emulator, "publishes_with_fences", seed) for seed in seeds)


def seen_too_early(emulator: Emulator, name: str, seed: int) -> bool:
    """Whether a thread saw the flag and not the message: it left 0 over what was there."""
    emulator.restart(Settings(seed=seed, mean_slice=1, delays_stores=True, finds_conflicts=False))
    start = [0, 0, *[-1] * (SIZE.memory_ints - 2)]
    memory = torch.tensor(start, dtype=torch.int32).to(emulator.device)
    return 0 in probe(emulator, name, SIZE, memory)[2:]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("depends_on_the_order_of_threads", SIZE),
        ("depends_on_the_order_of_blocks", ProbeSize(blocks=8)),
    ],
)
def test_seeds_bring_other_orders(emulator: Emulator, name: str, size: ProbeSize) -> None:
    firsts = set()
    for seed in range(1, 9):
        emulator.restart(Settings(seed=seed))
        firsts.add(probe(emulator, name, size)[0])
    assert len(firsts) > 2


def test_the_same_seed_brings_the_same_order(emulator: Emulator) -> None:
    firsts = set()
    for _ in range(4):
        emulator.restart(Settings(seed=5, mean_slice=3))
        firsts.add(probe(emulator, "depends_on_the_order_of_threads", SIZE)[0])
    assert len(firsts) == 1


def test_blocks_run_interleaved_where_asked(emulator: Emulator) -> None:
    emulator.restart(Settings(blocks_together=2))
    assert probe(emulator, "waits_for_another_block", TWO_BLOCKS)[0] == 1


def test_bits_are_counted_as_python_does(emulator: Emulator) -> None:
    numbers = [0, 1, 2, 3, 255, 2**31, 2**32, 2**63, 2**64 - 1, 0x8000000000000100]
    numbers += [1 << i for i in range(64)][: 32 - len(numbers)]
    halves = [half for number in numbers for half in (number & 0xFFFFFFFF, number >> 32)]
    signed = [half - (1 << 32) if half >= 1 << 31 else half for half in halves]
    size = ProbeSize(memory_ints=2 * len(signed))
    memory = torch.tensor(signed + [0] * len(signed), dtype=torch.int32).to(emulator.device)
    found = probe(emulator, "finds_bits", size, memory)[len(signed) :]
    assert found[::2] == [number.bit_length() for number in numbers]
    assert found[1::2] == [(number & -number).bit_length() - 1 for number in numbers]


def test_a_fault_leaves_the_device_of_no_use(emulator: Emulator) -> None:
    with pytest.raises(ProbeFailed):
        probe(emulator, "writes_before_an_allocation", SIZE)
    with pytest.raises(torch.AcceleratorError, match="outside all allocations"):
        torch.zeros(3, device=emulator.device)
    emulator.restart()
    probe(emulator, "nothing_wrong", SIZE)


def test_more_threads_than_the_kernels_are_bound_to_are_refused(emulator: Emulator) -> None:
    with pytest.raises(ProbeFailed, match="invalid configuration"):
        probe(emulator, "nothing_wrong", ProbeSize(threads=257, shared_ints=64))


def test_a_kernel_of_two_parameters_is_refused(emulator: Emulator) -> None:
    memory = torch.zeros(1, dtype=torch.int32, device=emulator.device)
    error = emulator.library.emulator_probe_of_two(ctypes.c_void_p(memory.data_ptr()), 7)
    assert b"one parameter" in emulator.library.emulator_probe_error(error)
    assert memory.item() == 0


def test_more_shared_memory_than_allowed_is_refused(emulator: Emulator) -> None:
    with pytest.raises(ProbeFailed, match="invalid configuration"):
        probe(emulator, "nothing_wrong", ProbeSize(shared_ints=12 * 1024 + 1))
