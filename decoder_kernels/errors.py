"""What can go wrong in this package.

::

    KernelError
    ├── InvalidConfig      a size or option that no search can be built with
    ├── InvalidInput       log-probabilities or slots that cannot be searched; names the lanes
    ├── BackendMissing     the native module, or its CUDA half, was not built
    ├── BoostTableError    a phrase or weight that no boost table can hold
    └── CapacityExceeded   the boost tables of all streams do not fit together
"""

from collections.abc import Sequence


class KernelError(Exception):
    """Base of all errors of this package."""


class InvalidConfig(KernelError):
    """A size or option that no search can be built with."""


class InvalidInput(KernelError):
    """Input that cannot be searched.

    ``lanes`` are the rows of the batch that were refused: their slots are as they were before the
    call, while all other lanes were searched. Empty when the call as a whole was refused.
    """

    def __init__(self, message: str, lanes: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.lanes = tuple(lanes)


class BackendMissing(KernelError):
    """The native module, or its half for this device, was not built."""


class BoostTableError(KernelError):
    """A phrase or weight that no boost table can hold."""


class CapacityExceeded(KernelError):
    """The arena has no room for this boost table beside those of the other streams."""
