"""Fixtures for the kernels: the devices they run on, and posteriors to search."""

import zlib
from collections.abc import Iterator

import pytest
import torch
from emulator import Settings, built

from earshot.decoder_kernels.errors import BackendMissing
from earshot.decoder_kernels.native import native_half

EMULATED_THREADS = (32, 128, 256)
EMULATED = [pytest.param(n, marks=pytest.mark.emulated) for n in EMULATED_THREADS if built()]


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


def emulated(test: pytest.Item, block_threads: int) -> Iterator[torch.device]:
    """The emulated device with blocks of so many threads, in an order that the test's name seeds.

    Fails where nothing was launched on it, unless the test says that nothing will be.
    """
    emulator = built()
    assert emulator is not None
    in_order = block_threads == EMULATED_THREADS[0]
    emulator.restart(
        Settings(
            seed=0 if in_order else zlib.crc32(test.name.encode()),
            mean_slice=0 if in_order else 40,
            blocks_together=1 if in_order else 3,
            delays_stores=not in_order,
        ),
        block_threads,
    )
    yield emulator.device
    assert emulator.launches or test.get_closest_marker("no_launch"), "no emulated launch happened"
