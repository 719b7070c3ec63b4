"""Fixtures for the kernels: the devices they run on, and posteriors to search."""

from collections.abc import Iterator

import pytest
import torch
from emulator import BLOCK_THREADS, built, schedule

from earshot.decoder_kernels.errors import BackendMissing
from earshot.decoder_kernels.native import native_half

EMULATED = [pytest.param(n, marks=pytest.mark.emulated) for n in BLOCK_THREADS if built()]


def require_half(name: str) -> torch.device:
    """The device, or a skipped test where its half of the kernels was not built."""
    device = torch.device(name)
    try:
        native_half(device)
    except BackendMissing as error:
        pytest.skip(str(error))
    return device


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu), *EMULATED])
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    """Each device in turn; the same tests hold on all."""
    if isinstance(request.param, int):
        yield from emulated(request.node, request.param)
    else:
        yield require_half(request.param)


@pytest.fixture(params=[pytest.param("cuda", marks=pytest.mark.gpu), *EMULATED])
def gpu_device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    """Each device but the CPU, for what runs on GPUs alone."""
    if isinstance(request.param, int):
        yield from emulated(request.node, request.param)
    else:
        yield require_half(request.param)


def emulated(test: pytest.Function, block_threads: int) -> Iterator[torch.device]:
    """The emulated device with blocks of so many threads, in an order that the test's name seeds.

    Fails where nothing was launched with so many, unless the test says that nothing will be, or is
    one of several by the ``block_threads`` of its searches.
    """
    emulator = built()
    assert emulator is not None
    emulator.restart(schedule(block_threads, test.name), block_threads)
    yield emulator.device
    expected = test.callspec.params.get("block_threads") or block_threads
    if not test.get_closest_marker("no_launch"):
        assert emulator.most_threads >= expected, f"no emulated launch with {expected} threads"
