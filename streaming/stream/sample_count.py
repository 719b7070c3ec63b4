"""A count of samples that one thread writes and others read, perhaps those of another process."""

from typing import Protocol


class Numbers(Protocol):
    """A list of integers, or an array that processes share."""

    def __getitem__(self, place: int, /) -> int: ...
    def __setitem__(self, place: int, number: int, /) -> None: ...


class SampleCount:
    """The samples of one stream that are decoded: a number in a sequence that may be shared."""

    def __init__(self, numbers: Numbers | None = None, place: int = 0) -> None:
        """numbers: one of its own if None."""
        self._numbers: Numbers = [0] if numbers is None else numbers
        self._place = place
        self.value = 0

    @property
    def value(self) -> int:
        """The count."""
        return self._numbers[self._place]

    @value.setter
    def value(self, samples: int) -> None:
        self._numbers[self._place] = samples
