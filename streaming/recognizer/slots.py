"""Where streams' states live: fixed rows of tensors, gathered into lanes and scattered back."""

import torch
from torch import Tensor

from earshot.models.u2.lanes import EncoderState
from earshot.models.u2.streaming_encoder import StreamingEncoder
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


class EncoderSlots:
    """The encoder state of every slot, lane first, on the model's device.

    Left context is right-aligned in the attention cache, so lanes that have heard little are
    gathered with only so many columns as the longest of them needs.
    """

    def __init__(
        self, encoder: StreamingEncoder, num_slots: int, cache_frames: int, device: torch.device
    ) -> None:
        self._state = encoder.initial_state(num_slots, cache_frames, device)
        self._cache_frames = cache_frames

    def gather(self, slots: Tensor, columns: int) -> EncoderState:
        """A copy of rows `slots (B,)` with the last `columns` columns of left context."""
        state = self._state
        first = max(self._cache_frames - columns, 0)
        return EncoderState(
            offset=state.offset[slots],
            cache_length=state.cache_length[slots],
            att_cache=state.att_cache[:, :, :, first:][slots],
            cnn_cache=state.cnn_cache[slots],
        )

    def scatter(self, slots: Tensor, lanes: EncoderState) -> None:
        """Store B lanes in rows `slots (B,)`; columns that were not gathered stay unread."""
        first = self._cache_frames - lanes.att_cache.size(3)
        self._state.offset[slots] = lanes.offset
        self._state.cache_length[slots] = lanes.cache_length
        self._state.att_cache[:, :, :, first:][slots] = lanes.att_cache
        self._state.cnn_cache[slots] = lanes.cnn_cache

    def reset(self, slots: Tensor) -> None:
        """Make rows `slots (B,)` those of streams that have heard nothing."""
        rows = torch.zeros(self._state.lanes, dtype=torch.bool, device=slots.device)
        rows[slots] = True
        self._state.reset(rows)
