"""The CPU half of the kernels on the emulated device's memory, where no emulated half is built.

Like the CUDA half it takes arrays of its device alone.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.dlpack import from_dlpack, to_dlpack

from earshot.decoder_kernels.native import native_half


def stand_in_half() -> "StandIn":
    """To be the native module's ``emulated``."""
    return StandIn(native_half(torch.device("cpu")))


class StandIn:
    """What the CPU half has made, or the half itself."""

    def __init__(self, what: Any) -> None:
        self._what = what

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._what, name)
        return self._wrapped(attribute) if callable(attribute) else attribute

    def _wrapped(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            named = {key: self._lower(value) for key, value in kwargs.items()}
            made = method(*map(self._lower, args), **named)
            return made if isinstance(made, int | bytes | tuple | None) else StandIn(made)

        return call

    def _lower(self, value: Any) -> Any:
        """An argument as the CPU half takes it."""
        if isinstance(value, StandIn):
            return value._what
        if isinstance(value, list):
            return [self._lower(each) for each in value]
        if isinstance(value, Tensor):
            return _host_view(value)
        if type(value).__name__ == "PyCapsule":
            return to_dlpack(_host_view(from_dlpack(value)))
        return value


def _host_view(tensor: Tensor) -> Tensor:
    if tensor.device.type != "emulated":
        raise TypeError(f"the half of the emulated device got a tensor of {tensor.device}")
    view: Tensor = torch.ops.emulated.host_view(tensor)
    return view
