"""The emulated GPU, as tests set it and ask it: see README.md beside this file."""

import ctypes
import functools
import importlib.util
import json
import os
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict

import emulated_device
import torch

from earshot.decoder_kernels.native import kernels


@dataclass(frozen=True)
class Settings:
    """How the device behaves; as in ``machine/memory/settings.h``.

    seed: of all that is left to chance; 0 runs threads and blocks in order. mean_slice: accesses
    between two forced switches of threads, 0 forces none. blocks_together: how many run
    interleaved. delays_stores: plain stores reach other threads at a fence or barrier, or by
    chance. finds_conflicts, finds_unwritten: whether accesses that nothing orders, and reads of
    what nobody has written, are faults. counts: whether to count what launches cost.
    watched_from, watched_bytes: of the device's memory, whose accesses are counted for themselves.
    multiprocessors: of the device, by which a cooperative launch can be too large.
    """

    seed: int = 0
    mean_slice: int = 0
    blocks_together: int = 1
    delays_stores: bool = False
    finds_conflicts: bool = True
    finds_unwritten: bool = True
    counts: bool = False
    watched_from: int = 0
    watched_bytes: int = 0
    memory_bytes: int = 8 << 30
    multiprocessors: int = 132


BLOCK_THREADS = (32, 128, 256)
"""With which tests of the kernels and of streams run on the emulated device."""


BLOCK_THREADS_OF = ("prefix_threads", "wfst_threads", "loop_threads")
"""Threads of a block that a half takes where nobody says."""


def schedule(block_threads: int, test: str) -> Settings:
    """Of the tests: in order with the fewest threads, else as hostile as the test's name seeds."""
    if block_threads == BLOCK_THREADS[0]:
        return Settings()
    return Settings(
        seed=zlib.crc32(test.encode()), mean_slice=40, blocks_together=3, delays_stores=True
    )


class KernelCounts(TypedDict):
    """What one kernel has cost over all its launches; as in ``machine/counts.h``."""

    launches: int
    blocks: int
    barriers: int
    critical_instructions: int
    critical_doubles: int
    critical_accesses: int
    global_atomics: int
    shared_atomics: int
    fences: int
    global_bytes: int
    shared_bytes: int
    own_bytes: int
    host_reads: int
    host_bytes: int
    host_sectors: int
    watched_reads: int
    watched_writes: int


class Emulator:
    """The device of this process, made by `load`."""

    def __init__(self, library: ctypes.CDLL, device: torch.device, half: Any) -> None:
        self.device = device
        self.library = library
        self._half = half
        self._threads = {name: getattr(half, name) for name in BLOCK_THREADS_OF}
        library.emulator_get.restype = ctypes.c_uint64
        library.emulator_allocations.restype = ctypes.c_size_t
        library.emulator_host_pieces.restype = ctypes.c_size_t
        library.emulator_counts.restype = ctypes.c_char_p
        library.emulator_probe_error.restype = ctypes.c_char_p
        for name in ("emulator_fail_launch", "emulator_fail_allocation"):
            getattr(library, name).argtypes = [ctypes.c_uint64]
        library.emulator_fail_call.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_uint64]

    def restart(self, settings: Settings | None = None, block_threads: int | None = None) -> None:
        """As new, but for what lies in its memory. ``block_threads``: None for a GPU's."""
        self.library.emulator_recover()
        self.library.emulator_recover_calls()
        self.library.emulator_clear_counts()
        for name in (
            "launches",
            "host_launches",
            "graph_launches",
            "intervals",
            "switches",
            "most_threads",
        ):
            self._set(name, 0)
        for name, value in asdict(settings or Settings()).items():
            self._set(name, int(value))
        for name, threads in self._threads.items():
            setattr(self._half, name, block_threads or threads)

    @property
    def launches(self) -> int:
        """Kernels started since the restart."""
        return self._get("launches")

    @property
    def host_launches(self) -> int:
        """Of these, those that the host has asked for one by one: not by a graph."""
        return self._get("host_launches")

    @property
    def graph_launches(self) -> int:
        """Launches of whole graphs, since the restart."""
        return self._get("graph_launches")

    @property
    def intervals(self) -> int:
        """Times that a block has met at a barrier or its end, since the restart."""
        return self._get("intervals")

    @property
    def switches(self) -> int:
        """Threads that gave way without a barrier, since the restart."""
        return self._get("switches")

    @property
    def most_threads(self) -> int:
        """Of a block that was started since the restart; 0 if none was."""
        return self._get("most_threads")

    @property
    def allocations(self) -> int:
        """Pieces of the device's memory that are in use."""
        return int(self.library.emulator_allocations())

    @property
    def host_pieces(self) -> int:
        """Pieces of the host's memory that kernels may read now."""
        return int(self.library.emulator_host_pieces())

    def fail_launch(self, *, after: int = 0) -> None:
        """Refuse one launch, after so many that are not."""
        self.library.emulator_fail_launch(after)

    def fail_allocation(self, *, after: int = 0) -> None:
        """Refuse one allocation, after so many that are not."""
        self.library.emulator_fail_allocation(after)

    def fail_call(self, name: str, error: int, *, after: int = 0) -> None:
        """Let that call of the CUDA runtime return the error once, after so many that do not."""
        self.library.emulator_fail_call(name.encode(), error, after)

    def fail_for_good(self, why: str) -> None:
        """Break the device: all that is asked of it fails, until `restart`."""
        self.library.emulator_break(why.encode())

    def counts(self) -> dict[str, KernelCounts]:
        """By the kernel's mangled name, where ``Settings.counts`` was set."""
        counts: dict[str, KernelCounts] = json.loads(self.library.emulator_counts())
        return counts

    def _set(self, name: str, value: int) -> None:
        if not self.library.emulator_set(name.encode(), ctypes.c_uint64(value)):
            raise KeyError(name)

    def _get(self, name: str) -> int:
        return int(self.library.emulator_get(name.encode()))


@functools.cache
def load(build_dir: Path) -> Emulator:
    """The device, as ``cmake --build`` has left it in ``build_dir``; a half of the native module.

    Once per process. Raises OSError where it was not built.
    """
    memory = build_dir / "machine" / "libdevice_memory.so"
    device = emulated_device.register(
        library=build_dir / "torch_device" / "libtorch_device.so", memory=memory
    )
    library = ctypes.CDLL(str(build_dir / "libcuda_emulator.so"))
    half = _load_half(build_dir)
    setattr(kernels, device.type, half)
    return Emulator(library, device, half)


def built() -> Emulator | None:
    """The device of ``$EARSHOT_EMULATOR``, where `make cuda-test` has built it."""
    build_dir = os.environ.get("EARSHOT_EMULATOR")
    return load(Path(build_dir)) if build_dir else None


def _load_half(build_dir: Path) -> Any:
    assert hasattr(kernels, "Launch")  # one of the types that both halves share
    [path] = build_dir.glob("_emulated*.so")
    spec = importlib.util.spec_from_file_location("_emulated", path)
    assert spec is not None
    assert spec.loader is not None
    half = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(half)
    return half
