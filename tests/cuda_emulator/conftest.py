"""Fixtures for tests of the emulated device itself."""

from collections.abc import Iterator

import pytest
from emulator import Emulator, built


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """The device as new, before and after. Where it was not built, its tests are not collected."""
    device = built()
    assert device is not None
    device.restart()
    yield device
    device.restart()
