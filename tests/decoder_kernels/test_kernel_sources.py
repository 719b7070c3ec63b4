"""Kernels use only what nvcc is known to compile: it drops some of the library without a word.

nvcc 13.0 with ``--expt-relaxed-constexpr`` compiles ``std::bit_width`` of 64 bits to the constant
0 and ``std::countr_zero`` to another. Nobody can know which others, so those in use are listed.
"""

import re
from pathlib import Path

import pytest

KNOWN_TO_COMPILE = {
    # Types and constants.
    "byte",
    "conditional_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "intptr_t",
    "numeric_limits",
    "size_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    # Not a call in the compiler's eyes: it has a builtin of its own for it, and the tests on the
    # emulated device would fail without.
    "bit_cast",
}
HOST_ONLY = {"runtime_error"}  # of launch.h
HOST_FILES = {
    "captured_graph.h",
    "device_loop.h",
    "looping_modes.cu",
    "pinned_bytes.cu",
    "step_launches.h",
}
CPU_ONLY = {"block_solo.h", "block_team.h", "cpu_launch.h"}


def included(source: Path, csrc: Path, seen: set[Path]) -> set[Path]:
    """The file and all of ours that it includes for nvcc."""
    if source in seen or source.name in CPU_ONLY:
        return seen
    seen.add(source)
    for name in re.findall(r'#include "([^"]+)"', source.read_text()):
        included(csrc / name, csrc, seen)
    return seen


def without_comments(source: Path) -> str:
    return re.sub(r"//[^\n]*", "", source.read_text())


@pytest.fixture(scope="module")
def kernel_sources(repository_dir: Path) -> set[Path]:
    found: set[Path] = set()
    csrc = repository_dir / "decoder_kernels" / "csrc"
    for kernel in csrc.glob("*/*.cu"):
        included(kernel, csrc, found)
    return found


def test_all_kernels_are_looked_at(kernel_sources: set[Path]) -> None:
    names = {source.name for source in kernel_sources}
    assert {
        "wfst_search.cu",
        "prefix_search.cu",
        "block_cuda.h",
        "wfst_frontier.h",
        "loop_steps.h",
    } <= names


def test_kernels_use_no_library_function_that_nvcc_may_drop(kernel_sources: set[Path]) -> None:
    used = {
        f"{source.name}: std::{name}"
        for source in kernel_sources
        if source.name not in HOST_FILES
        for name in re.findall(r"\bstd::(\w+)", without_comments(source))
        if name not in KNOWN_TO_COMPILE | HOST_ONLY
    }
    assert not used, "write it in block_cuda.h and cpu_launch.h, and test it on the emulated device"


def test_kernels_use_no_builtin_of_a_compiler(kernel_sources: set[Path]) -> None:
    assert not {
        f"{source.name}: {name}"
        for source in kernel_sources
        for name in re.findall(r"\b__builtin_\w+", without_comments(source))
    }
