"""All boost tables of all slots, in one piece of device memory that is allocated once."""

import torch

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.slot_spans import SlotSpans


class BoostArena:
    """Rows of automaton states and which of them are free.

    ``links`` (4, capacity) int32 and ``bonuses`` (2, capacity) float64 hold the tables' arrays side
    by side; ``rows`` (num_slots,) int64 says where each slot's table begins, -1 for none.
    """

    def __init__(self, capacity: int, num_slots: int, device: torch.device) -> None:
        self.links = torch.zeros(4, capacity, dtype=torch.int32, device=device)
        self.bonuses = torch.zeros(2, capacity, dtype=torch.float64, device=device)
        self.rows = torch.empty(num_slots, dtype=torch.int64, device=device)
        self._spans = SlotSpans(capacity, self.rows)

    def place(self, slot: int, table: BoostTable) -> None:
        """Give the slot this table instead of the one it may have.

        Raises CapacityExceeded when no free span is long enough; the slot is then without a table.
        """
        length = table.num_states
        start = self._spans.take(slot, length, f"a boost table of {length} states")
        self.links[:, start : start + length].copy_(table.links)
        self.bonuses[:, start : start + length].copy_(table.bonuses)

    def remove(self, slot: int) -> None:
        """Free the slot's table, if it has one."""
        self._spans.give_back(slot)
