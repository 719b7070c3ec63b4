"""The boosts of a loop's slots, as they lie in one arena."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.boosting.boost_arena import BoostArena
from earshot.decoder_kernels.errors import BoostTableError


@dataclass(frozen=True)
class PlacedTable:
    """Where a slot's boosts lie in the arena, and which they are; as it stands, none."""

    first_row: int = -1
    num_states: int = 0
    fingerprint: int = -1


NO_TABLE = PlacedTable()


class PlacedBoosts:
    """Each slot's table, over labels below `vocab_size`; `arena` is what native code reads."""

    def __init__(
        self, vocab_size: int, num_slots: int, capacity: int, device: torch.device
    ) -> None:
        self.arena = BoostArena(capacity, num_slots, device)
        self._vocab_size = vocab_size
        self._placed = [NO_TABLE] * num_slots

    def set(self, slot: int, table: BoostTable | None) -> None:
        """Boost a slot's phrases, or none.

        Raises BoostTableError for tokens outside the labels, CapacityExceeded where the table does
        not fit; the slot is then without one.
        """
        self._placed[slot] = NO_TABLE
        self.arena.remove(slot)
        if table is None:
            return
        if max(table.tokens, default=0) >= self._vocab_size:
            raise BoostTableError(
                f"a boosted phrase has tokens outside the {self._vocab_size} here"
            )
        self.arena.place(slot, table)
        first_row = int(self.arena.rows[slot])
        self._placed[slot] = PlacedTable(first_row, table.num_states, table.fingerprint)

    def of(self, slots: Sequence[int] | None, lanes: int) -> list[PlacedTable]:
        """Whose boosts each lane has; without slots nobody's."""
        return [NO_TABLE] * lanes if slots is None else [self._placed[slot] for slot in slots]
