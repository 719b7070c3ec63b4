"""Errors of this package for what torch says of a failing device."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from earshot.decoder_kernels.errors import DeviceError, OutOfDeviceMemory


@contextmanager
def device_errors() -> Iterator[None]:
    """Raises DeviceError where the device has failed, OutOfDeviceMemory where it has no room.

    Also a decorator. Kernels raise DeviceError themselves when they cannot be launched.
    """
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise OutOfDeviceMemory(str(error)) from error
    except torch.AcceleratorError as error:
        raise DeviceError(str(error)) from error
