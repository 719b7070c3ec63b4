"""How lanes are moved on by a chunk: natively where there is a native step, by torch elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from torch import Tensor

from earshot.models.u2.conformer_step import ConformerStep, is_native
from earshot.models.u2.lanes import EncoderState, LaneUpdate
from earshot.models.u2.streaming_encoder import StreamingEncoder

SlotStep: TypeAlias = Callable[
    [Tensor, Tensor, EncoderState, Tensor, int], tuple[Tensor, LaneUpdate]
]
"""As `StreamingEncoder.forward_slots`."""


def slot_step(encoder: StreamingEncoder) -> SlotStep:
    """The fastest for this encoder where it is; its weights must not change from now on."""
    return ConformerStep(encoder) if is_native(encoder) else encoder.forward_slots
