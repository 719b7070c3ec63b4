"""Memory of the host: kernels read what was registered or allocated for that, by own addresses."""

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from cuda_calls import CudaCalls, CudaError
from emulator import Emulator, Settings
from probe import ProbeFailed, ProbeSize, probe

pytestmark = pytest.mark.emulated

REGISTERED = 1 | 2 | 8  # portable, mapped, read only
MAPPED = 1 | 2
ALREADY_REGISTERED, NOT_REGISTERED, INVALID_VALUE = 712, 713, 1
THREADS = 32


@pytest.fixture
def calls(emulator: Emulator) -> CudaCalls:
    return CudaCalls(emulator, torch.zeros(1, dtype=torch.int32, device=emulator.device))


@pytest.fixture
def numbers() -> np.ndarray:
    """Of the host: as many as threads, and as many more."""
    return np.arange(2 * THREADS, dtype=np.int32) + 100


def register(calls: CudaCalls, numbers: np.ndarray, count: int = THREADS) -> int:
    """Where the device sees them."""
    at = ctypes.c_void_p(numbers.ctypes.data)
    calls.call("cudaHostRegister", at, ctypes.c_size_t(4 * count), REGISTERED)
    return calls.make("cudaHostGetDevicePointer", at, 0)


def unregister(calls: CudaCalls, numbers: np.ndarray) -> None:
    calls.call("cudaHostUnregister", ctypes.c_void_p(numbers.ctypes.data))


@pytest.fixture
def seen(calls: CudaCalls, numbers: np.ndarray) -> Iterator[int]:
    yield register(calls, numbers)
    unregister(calls, numbers)


def read(
    emulator: Emulator, address: int, threads: int = THREADS, name: str = "reads"
) -> list[int]:
    memory = torch.zeros(2 + threads, dtype=torch.int32)
    memory[:2] = torch.tensor([address], dtype=torch.int64).view(torch.int32)
    size = ProbeSize(threads=threads, memory_ints=len(memory))
    return probe(emulator, f"{name}_memory_of_the_host", size, memory.to(emulator.device))[2:]


def test_registered_memory_is_read(emulator: Emulator, seen: int, numbers: np.ndarray) -> None:
    assert read(emulator, seen) == numbers[:THREADS].tolist()


def test_allocated_memory_is_read(emulator: Emulator, calls: CudaCalls, numbers) -> None:
    at = calls.make("cudaHostAlloc", ctypes.c_size_t(4 * THREADS), MAPPED)
    ctypes.memmove(at, numbers.ctypes.data, 4 * THREADS)
    seen = calls.make("cudaHostGetDevicePointer", ctypes.c_void_p(at), 0)
    assert read(emulator, seen) == numbers[:THREADS].tolist()
    calls.call("cudaFreeHost", ctypes.c_void_p(at))
    with pytest.raises(ProbeFailed, match="reads 4 bytes outside all allocations"):
        read(emulator, seen)


def test_the_hosts_own_address_is_none_of_the_devices(
    emulator: Emulator, seen: int, numbers: np.ndarray
) -> None:
    with pytest.raises(ProbeFailed, match="reads 4 bytes outside all allocations"):
        read(emulator, numbers.ctypes.data)
    emulator.restart()


def test_what_lies_behind_is_not_read(emulator: Emulator, seen: int) -> None:
    with pytest.raises(ProbeFailed, match="reads 4 bytes outside all allocations"):
        read(emulator, seen, threads=THREADS + 1)
    emulator.restart()


def test_what_is_registered_no_more_is_not_read(emulator: Emulator, calls, numbers) -> None:
    seen = register(calls, numbers)
    unregister(calls, numbers)
    with pytest.raises(ProbeFailed, match="reads 4 bytes outside all allocations"):
        read(emulator, seen)


def test_it_is_not_written(emulator: Emulator, seen: int) -> None:
    with pytest.raises(ProbeFailed, match="writes 4 bytes outside all allocations"):
        read(emulator, seen, name="writes")
    emulator.restart()


def test_reads_bytes_and_sectors_are_counted(emulator: Emulator, seen: int) -> None:
    emulator.restart(Settings(counts=True))
    read(emulator, seen)
    [own] = emulator.counts().values()
    sectors = (seen + 4 * THREADS - 1) // 32 - seen // 32 + 1
    assert (own["host_reads"], own["host_bytes"]) == (THREADS, 4 * THREADS)
    assert own["host_sectors"] == sectors


def test_accesses_of_watched_memory_are_counted_for_themselves(
    emulator: Emulator, seen: int
) -> None:
    memory = torch.zeros(2 + THREADS, dtype=torch.int32)
    memory[:2] = torch.tensor([seen], dtype=torch.int64).view(torch.int32)
    there = memory.to(emulator.device)
    watched = {"watched_from": there.data_ptr() + 4 * 2, "watched_bytes": 4 * THREADS // 2}
    emulator.restart(Settings(counts=True, **watched))
    size = ProbeSize(threads=THREADS, memory_ints=len(memory))
    probe(emulator, "reads_memory_of_the_host", size, there)
    [own] = emulator.counts().values()
    assert (own["watched_reads"], own["watched_writes"]) == (0, THREADS // 2)


def test_memory_is_registered_once(calls: CudaCalls, seen: int, numbers: np.ndarray) -> None:
    for part in (numbers, numbers[THREADS - 1 :]):
        with pytest.raises(CudaError, match=f"{ALREADY_REGISTERED}: "):
            register(calls, part)
    behind = numbers[THREADS:]
    register(calls, behind)
    unregister(calls, behind)


def test_what_was_not_registered_is_not_given_back(calls: CudaCalls, seen: int, numbers) -> None:
    with pytest.raises(CudaError, match=f"{NOT_REGISTERED}: "):
        unregister(calls, numbers[1:])
    with pytest.raises(CudaError, match=f"{INVALID_VALUE}: "):
        calls.call("cudaFreeHost", ctypes.c_void_p(numbers.ctypes.data))
    with pytest.raises(CudaError, match=f"{INVALID_VALUE}: "):
        calls.make("cudaHostGetDevicePointer", ctypes.c_void_p(numbers[THREADS:].ctypes.data), 0)
