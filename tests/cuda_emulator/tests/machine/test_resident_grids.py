"""Blocks that run together and wait for each other: what is right, what is found."""

import ctypes
from collections.abc import Sequence

import pytest
import torch
from emulator import Emulator, Settings
from probe import ProbeFailed

pytestmark = pytest.mark.emulated

BLOCKS, THREADS, ROUNDS = 4, 32, 3
SIZE = BLOCKS * THREADS
TOO_LARGE = 720  # cudaErrorCooperativeLaunchTooLarge
HOSTILE = [Settings(seed=seed, mean_slice=7, delays_stores=True) for seed in (1, 2, 3)]


def launch(
    emulator: Emulator,
    name: str,
    *,
    is_cooperative: bool = True,
    blocks: int = BLOCKS,
    threads: int = THREADS,
    memory: Sequence[int] = (0,) * (2 + 2 * SIZE),
) -> tuple[list[int], list[int]]:
    """Both halves of the memory behind its counters. Raises ProbeFailed, whose code is second."""
    there = torch.tensor(memory, dtype=torch.int32).to(emulator.device)
    pointer = ctypes.c_void_p(there.data_ptr())
    size = (len(memory) - 2) // 2
    library = emulator.library
    error = library.emulator_grid_probe(
        name.encode(), int(is_cooperative), blocks, threads, pointer, size
    )
    if error < 0:
        raise KeyError(name)
    if error:
        raise ProbeFailed(library.emulator_probe_error(error).decode(), error)
    found = there.tolist()[2:]
    return found[:size], found[size:]


def neighbours() -> list[int]:
    """What each thread has after all rounds."""
    values = list(range(SIZE))
    for _ in range(ROUNDS):
        values = [value + values[(i + THREADS) % SIZE] for i, value in enumerate(values)]
    return values


@pytest.mark.parametrize("settings", [Settings(), *HOSTILE])
@pytest.mark.parametrize("name", ["meets_by_release_and_acquire", "meets_by_fences"])
def test_blocks_meet_and_see_what_others_wrote(
    emulator: Emulator, name: str, settings: Settings
) -> None:
    emulator.restart(settings)
    assert launch(emulator, name)[ROUNDS % 2] == neighbours()


FAULTS = [
    "arrives_without_a_release",
    "leaves_without_an_acquire",
    "releases_to_its_block",
    "fences_for_its_block",
    "arrives_before_its_block",
    "writes_beside_readers",
    "hands_on_without_a_release",
    "counts_for_its_block",
]


@pytest.mark.parametrize("settings", [Settings(), *HOSTILE])
@pytest.mark.parametrize("name", FAULTS)
def test_what_nothing_orders_is_a_fault(emulator: Emulator, name: str, settings: Settings) -> None:
    emulator.restart(settings)
    with pytest.raises(ProbeFailed, match="conflict: "):
        launch(emulator, name)


@pytest.mark.parametrize("settings", [Settings(), *HOSTILE])
def test_one_may_write_behind_all_who_read(emulator: Emulator, settings: Settings) -> None:
    emulator.restart(settings)
    first, second = launch(emulator, "writes_behind_all_readers")
    assert (first[0], second) == (7, [0] * SIZE)


@pytest.mark.parametrize("settings", [Settings(), *HOSTILE])
def test_what_one_block_knows_it_hands_on(emulator: Emulator, settings: Settings) -> None:
    emulator.restart(settings)
    assert launch(emulator, "hands_on")[0][:BLOCKS] == [1, 2, 2, 2]


def test_a_late_store_is_missed_where_nobody_releases(emulator: Emulator) -> None:
    assert misses(emulator, "hands_on_without_a_release") > 0
    assert misses(emulator, "hands_on") == 0


def misses(emulator: Emulator, name: str) -> int:
    """In how many orders a block did not see what the first has written."""
    found = []
    for seed in range(1, 20):
        settings = Settings(seed=seed, mean_slice=2, delays_stores=True, finds_conflicts=False)
        emulator.restart(settings)
        found.append(launch(emulator, name)[0][:BLOCKS])
    return sum(messages != [1, 2, 2, 2] for messages in found)


@pytest.mark.parametrize("settings", [Settings(), *HOSTILE])
def test_waiting_for_a_block_that_is_not_resident_is_a_fault(
    emulator: Emulator, settings: Settings
) -> None:
    emulator.restart(settings)
    with pytest.raises(ProbeFailed, match=r"not resident: .*grid_barrier\.h:\d+, thread 0"):
        launch(emulator, "meets_by_release_and_acquire", is_cooperative=False)


@pytest.mark.parametrize("settings", [Settings(), *HOSTILE])
def test_waiting_for_what_nobody_does_is_a_fault(emulator: Emulator, settings: Settings) -> None:
    emulator.restart(settings)
    with pytest.raises(ProbeFailed, match="wait for what no thread will do"):
        launch(emulator, "waits_for_one_more")


def test_trying_for_ever_to_take_a_lock_is_a_fault(emulator: Emulator) -> None:
    with pytest.raises(ProbeFailed, match="wait for what no thread will do"):
        launch(emulator, "waits_for_a_lock")


@pytest.mark.parametrize("settings", [Settings(), HOSTILE[0]])
def test_reading_for_long_is_not_waiting(emulator: Emulator, settings: Settings) -> None:
    emulator.restart(settings)
    memory = [0, 0, *[1] * 4]
    launched = launch(
        emulator, "reads_for_long", is_cooperative=False, blocks=2, threads=1, memory=memory
    )
    assert launched[1] == [300000, 300000]


def fits(emulator: Emulator, threads: int, shared_bytes: int = 0) -> int:
    """Blocks that the device holds at the same time."""
    blocks = ctypes.c_int()
    name = b"meets_by_fences"
    error = emulator.library.emulator_grid_probe_fits(
        name, threads, shared_bytes, ctypes.byref(blocks)
    )
    assert error == 0
    return blocks.value


@pytest.mark.parametrize(
    ("threads", "shared_bytes", "of_each"),
    [(256, 0, 1), (128, 0, 2), (32, 0, 8), (32, 40 << 10, 5), (257, 0, 0), (32, 228 << 10, 0)],
)
def test_a_multiprocessor_holds_what_fits_with_all_registers(
    emulator: Emulator, threads: int, shared_bytes: int, of_each: int
) -> None:
    assert fits(emulator, threads, shared_bytes) == 132 * of_each
    emulator.restart(Settings(multiprocessors=3))
    assert fits(emulator, threads, shared_bytes) == 3 * of_each


def test_a_grid_that_does_not_fit_is_refused_and_the_device_goes_on(emulator: Emulator) -> None:
    emulator.restart(Settings(multiprocessors=1))
    launch(emulator, "meets_by_fences", blocks=8, memory=[0] * (2 + 2 * 8 * THREADS))
    memory = [0] * (2 + 2 * 9 * THREADS)
    with pytest.raises(ProbeFailed, match="too many blocks in cooperative launch") as refused:
        launch(emulator, "meets_by_fences", blocks=9, memory=memory)
    assert refused.value.args[1] == TOO_LARGE
    launch(emulator, "reads_for_long", is_cooperative=False, blocks=9, threads=1)


@pytest.mark.parametrize(
    "call", ["cudaDeviceGetAttribute", "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"]
)
def test_what_is_asked_of_the_device_can_fail(emulator: Emulator, call: str) -> None:
    emulator.fail_call(call, 3)
    blocks = ctypes.c_int()
    ask = emulator.library.emulator_grid_probe_fits
    assert ask(b"meets_by_fences", 32, 0, ctypes.byref(blocks)) == 3
    assert ask(b"meets_by_fences", 32, 0, ctypes.byref(blocks)) == 0


def test_a_cooperative_launch_can_fail(emulator: Emulator) -> None:
    emulator.fail_call("cudaLaunchCooperativeKernel", 98, after=1)
    launch(emulator, "meets_by_fences")
    with pytest.raises(ProbeFailed, match="cudaLaunchCooperativeKernel, told to fail") as failed:
        launch(emulator, "meets_by_fences")
    assert failed.value.args[1] == 98
    launch(emulator, "meets_by_fences")
