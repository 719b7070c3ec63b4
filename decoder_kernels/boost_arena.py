"""All boost tables of all slots, in one piece of device memory that is allocated once."""

import torch

from decoder_kernels.boost import BoostTable
from decoder_kernels.errors import CapacityExceeded
from decoder_kernels.spans import Spans

NO_TABLE = -1


class BoostArena:
    """Rows of automaton states and which of them are free.

    ``links`` (4, capacity) int32 and ``bonuses`` (2, capacity) float64 hold the tables' arrays side
    by side; ``rows`` (num_slots,) int64 says where each slot's table begins, -1 for none.
    """

    def __init__(self, capacity: int, num_slots: int, device: torch.device) -> None:
        self.links = torch.zeros(4, capacity, dtype=torch.int32, device=device)
        self.bonuses = torch.zeros(2, capacity, dtype=torch.float64, device=device)
        self.rows = torch.full((num_slots,), NO_TABLE, dtype=torch.int64, device=device)
        self._free = Spans(capacity)
        self._taken: dict[int, tuple[int, int]] = {}

    @property
    def free_states(self) -> int:
        """Rows that no table holds."""
        return self._free.num_free

    def place(self, slot: int, table: BoostTable) -> None:
        """Give the slot this table instead of the one it may have.

        Raises CapacityExceeded when no free span is long enough; the slot is then without a table.
        """
        self.remove(slot)
        start = self._take(table.num_states)
        self._taken[slot] = (start, table.num_states)
        span = slice(start, start + table.num_states)
        self.links[:, span].copy_(table.links)
        self.bonuses[:, span].copy_(table.bonuses)
        self.rows[slot] = start

    def remove(self, slot: int) -> None:
        """Free the slot's table, if it has one."""
        if slot not in self._taken:
            return
        self._free.give_back(*self._taken.pop(slot))
        self.rows[slot] = NO_TABLE

    def _take(self, length: int) -> int:
        start = self._free.take(length)
        if start is None:
            raise CapacityExceeded(
                f"a boost table of {length} states does not fit beside those of the other streams "
                f"({self._free.longest} of {self.links.shape[1]} are free in one place)"
            )
        return start
