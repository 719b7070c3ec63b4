"""The rows of state that no stream holds."""

from earshot.streaming.errors import EngineFull


class FreeSlots:
    """The slots nobody owns. Not thread safe: its owner holds a lock."""

    def __init__(self, num_slots: int) -> None:
        self._free = list(reversed(range(num_slots)))
        self._num_slots = num_slots

    def __len__(self) -> int:
        return len(self._free)

    def take(self) -> int:
        """A free slot. Raises EngineFull."""
        if not self._free:
            raise EngineFull(f"all {self._num_slots} slots are taken")
        return self._free.pop()

    def give_back(self, slot: int) -> None:
        """The slot is free again; giving one back twice would let two streams share it."""
        assert slot not in self._free, f"slot {slot} was given back twice"
        self._free.append(slot)
