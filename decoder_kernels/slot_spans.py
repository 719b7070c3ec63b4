"""Which rows of an arena each slot holds: one span or none."""

from torch import Tensor

from earshot.decoder_kernels.errors import CapacityExceeded
from earshot.decoder_kernels.spans import Spans

NO_SPAN = -1


class SlotSpans:
    """The spans of all slots in an arena of ``capacity`` rows.

    ``rows`` (num_slots, …) int64 is the caller's, on its device: where each slot's span begins.
    """

    def __init__(self, capacity: int, rows: Tensor) -> None:
        self._capacity = capacity
        self._rows = rows.fill_(NO_SPAN)
        self._free = Spans(capacity)
        self._taken: dict[int, tuple[int, int]] = {}

    def take(self, slot: int, length: int, what: str) -> int:
        """The first of so many rows, for the slot instead of those that it may have.

        Raises CapacityExceeded, which names ``what``, where no free span is long enough; the slot
        then has none.
        """
        self.give_back(slot)
        start = self._free.take(length)
        if start is None:
            raise CapacityExceeded(
                f"{what} does not fit beside those of the other streams "
                f"({self._free.longest} of {self._capacity} are free in one place)"
            )
        self._taken[slot] = (start, length)
        self._rows[slot] = start
        return start

    def give_back(self, slot: int) -> None:
        """The slot's span is free again, if it has one."""
        if slot in self._taken:
            self._free.give_back(*self._taken.pop(slot))
            self._rows[slot] = NO_SPAN
