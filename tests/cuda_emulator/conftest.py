"""Fixtures for tests of the emulated device itself."""

from collections.abc import Iterator

import pytest
from emulator import Emulator, built


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """The device as new, before and after; a skipped test where its machine was not built."""
    device = built()
    if device is None:
        pytest.skip("the emulated device's machine is not built: make cuda-test")
    device.restart()
    yield device
    device.restart()
