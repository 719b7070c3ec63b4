"""The emulated GPU as a device of torch: ``torch.device("emulated")``, and ``torch.emulated``.

Tensors there have memory of their own and do not meet those of the CPU, as on CUDA. All that torch
computes on them is computed by the CPU. Once per process, and for the rest of it.
"""

import contextlib
import ctypes
import functools
import sys
from pathlib import Path
from typing import NamedTuple

import torch

NAME = "emulated"


class Stream(NamedTuple):
    """Where work is queued: CUDA's default stream."""

    cuda_stream: int = 0


class device(contextlib.nullcontext[None]):
    """Where this device is the current one: everywhere."""

    def __init__(self, _device: object = None) -> None:
        super().__init__(None)


@functools.cache
def register(library: Path, memory: Path) -> torch.device:
    """Let torch know the device.

    library: what ``torch_device/`` is built to. memory: the library that has the functions of
    ``machine/memory/device_memory.h``. Raises RuntimeError where others were registered before.
    """
    if torch._C._get_privateuse1_backend_name() == NAME:
        raise RuntimeError("this process has an emulated device with other libraries")
    ctypes.CDLL(str(memory), mode=ctypes.RTLD_GLOBAL)
    torch.utils.rename_privateuse1_backend(NAME)
    torch.ops.load_library(str(library))
    torch._register_device_module(NAME, sys.modules[__name__])
    return torch.device(NAME)


def is_available() -> bool:
    """It is, once registered."""
    return True


def is_initialized() -> bool:
    """It is, once registered."""
    return True


def device_count() -> int:
    """There is one."""
    return 1


def current_device() -> int:
    """The one there is."""
    return 0


def current_stream(_device: object = None) -> Stream:
    """The one there is."""
    return Stream()


def synchronize(_device: object = None) -> None:
    """Nothing to wait for. Raises torch.AcceleratorError once the device is of no more use."""
    torch.ops.emulated.synchronize()


def get_amp_supported_dtype() -> list[torch.dtype]:
    """What autocast may choose."""
    return [torch.float16, torch.bfloat16]


def manual_seed_all(_seed: int) -> None:
    """The CPU's generator serves this device too, and is seeded besides."""


def _is_in_bad_fork() -> bool:
    return False
