"""How lanes are moved on by a chunk: natively where there is a native step, by torch elsewhere."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from earshot.models.native.late_weights import bring_all
from earshot.models.native.precision import Precision
from earshot.models.u2.conformer_step import ConformerStep, is_native
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.lanes import EncoderState, LaneUpdate


class SlotStep(Protocol):
    """One chunk of the streams in some slots."""

    def __call__(
        self, feats: Tensor, out_lengths: Tensor, state: EncoderState, slots: Tensor, columns: int
    ) -> tuple[Tensor, LaneUpdate]:
        """Run `Encoder.forward_lanes` for slots (B,), which differ from each other.

        columns: no stream among them has put out more frames.
        """


class TorchSlotStep:
    """Gathers what the lanes remember. room: frames of a chunk, or else what features give."""

    def __init__(self, encoder: Encoder, room: int | None = None) -> None:
        self._encoder = encoder
        self._room = room

    def __call__(
        self, feats: Tensor, out_lengths: Tensor, state: EncoderState, slots: Tensor, columns: int
    ) -> tuple[Tensor, LaneUpdate]:
        """Run one step, see `SlotStep`, wherever the encoder is."""
        encoder, room = self._encoder, self._room
        if room is None:
            room = (feats.size(1) - encoder.right_context - 1) // encoder.subsampling_rate + 1
        context = state.gather(slots, room, columns)
        return self._encoder.forward_lanes(feats, out_lengths, context)


def slot_step(encoder: Encoder, precision: Precision = "float32") -> SlotStep:
    """The fastest for this encoder where it is; its weights must not change from now on.

    precision: of a native one. Layers that wait for their weights get them.
    """
    if is_native(encoder):
        return ConformerStep(encoder, precision=precision)
    bring_all(encoder)
    return TorchSlotStep(encoder)
