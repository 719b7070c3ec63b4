"""Errors of this package.

::

    KernelError
    ├── InvalidConfig      a size or option that no search can be built with
    ├── InvalidInput       log-probabilities or slots that cannot be searched; names the lanes
    ├── BackendMissing     the native module, or its CUDA half, was not built
    ├── DeviceError        the device has refused a kernel, or is of no more use
    │   └── OutOfDeviceMemory      it has no room for what a search needs
    ├── BoostTableError    a phrase or weight that no boost table can hold
    ├── CapacityExceeded   the boost tables of all streams do not fit together
    ├── LanguageModelError text or options that no language model can be made of
    ├── LmImageError       a file that is no language model's image, or a damaged one
    └── GraphError         a decoding graph that cannot be built, read or used
        ├── InvalidGraph           arrays that contradict each other, costs that are no numbers
        ├── UnsafeEpsilonCycle     the search could go round without a frame, for gain
        ├── GraphFileError         a file that is no compiled graph, or a damaged or foreign one
        ├── GraphSourceError       a language model, lexicon or foreign graph that cannot be read
        ├── NoCompactRule          the rule in an explicit graph's arcs is not the compact one
        └── GraphMismatch          the graph was built for other units
"""

from collections.abc import Sequence

from earshot.errors import EarshotError


class KernelError(EarshotError):
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


class DeviceError(KernelError):
    """The device has refused a kernel, or a kernel has failed: what slots hold is not known."""


class OutOfDeviceMemory(DeviceError):
    """The device has no room for what a search needs."""


class BoostTableError(KernelError):
    """A phrase or weight that no boost table can hold."""


class CapacityExceeded(KernelError):
    """The arena has no room for this boost table beside those of the other streams."""


class LanguageModelError(KernelError):
    """Text, words or options that no language model can be made of."""

    @classmethod
    def unreadable(cls, error: Exception, source: str) -> "LanguageModelError":
        """The error of a file that cannot be opened, unzipped or written."""
        return cls(f"{source}: {getattr(error, 'strerror', None) or error}")


class LmImageError(KernelError):
    """A file that is no image of a language model, a damaged one, or one of another version."""

    @classmethod
    def unreadable(cls, error: Exception, source: str) -> "LmImageError":
        """The error of a file that cannot be opened or mapped."""
        return cls(f"{source} cannot be read: {getattr(error, 'strerror', None) or error}")


class GraphError(KernelError):
    """A decoding graph that cannot be built, read or used."""


class InvalidGraph(GraphError):
    """Arrays that contradict each other, an index out of range, a cost that is no number."""


class UnsafeEpsilonCycle(GraphError):
    """Epsilon arcs form a cycle in which the search could go round without a frame, for gain."""


class GraphFileError(GraphError):
    """A file that is not a compiled graph, or a damaged one, or one of another version."""


class GraphSourceError(GraphError):
    """A language model, lexicon or foreign graph that no graph can be made of.

    ``line`` is where in the file, counted from 1, if the fault has a place.
    """

    def __init__(self, message: str, source: str = "", line: int | None = None) -> None:
        place = f"{source}, line {line}: " if line is not None else f"{source}: " if source else ""
        super().__init__(place + message)
        self.line = line

    @classmethod
    def unreadable(cls, error: Exception, source: str) -> "GraphSourceError":
        """The error of a file that cannot be opened, unzipped or taken for text."""
        return cls(f"cannot be read: {getattr(error, 'strerror', None) or error}", source)


class NoCompactRule(GraphError):
    """An explicit graph's arcs hold another rule than the compact one of CTC, or part of it."""


class GraphMismatch(GraphError):
    """The graph was built for other units than those of the model."""
