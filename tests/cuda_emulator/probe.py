"""Runs one of the kernels of ``probes/probes.cu``."""

import ctypes
from dataclasses import dataclass
from pathlib import Path

import torch
from emulator import Emulator


@dataclass(frozen=True)
class ProbeSize:
    """How a probe is launched. shared_ints, memory_ints: 32-bit numbers that it may use."""

    blocks: int = 1
    threads: int = 32
    shared_ints: int = 64
    memory_ints: int = 64


class ProbeFailed(Exception):
    """What the device has said of the launch."""


def probe(
    emulator: Emulator, name: str, size: ProbeSize, memory: torch.Tensor | None = None
) -> list[int]:
    """The memory ``(memory_ints,)`` afterwards; zeros before, unless given.

    Raises ProbeFailed with the device's words.
    """
    if memory is None:
        memory = torch.zeros(size.memory_ints, dtype=torch.int32, device=emulator.device)
    library = emulator.library
    error = library.emulator_probe(
        name.encode(),
        size.blocks,
        size.threads,
        4 * size.shared_ints,
        ctypes.c_void_p(memory.data_ptr()),
        size.memory_ints,
    )
    if error < 0:
        raise KeyError(name)
    if error:
        raise ProbeFailed(library.emulator_probe_error(error).decode())
    found: list[int] = memory.tolist()
    return found


PROBES = Path(__file__).parent / "probes" / "probes.cu"


def line_of(text: str) -> int:
    """Where a line with this text is in the probes' source."""
    lines = PROBES.read_text().splitlines()
    [number] = [i for i, line in enumerate(lines, 1) if text in line]
    return number
