"""The network's part of the first pass: features, encoder and CTC for all lanes in one batch."""

from collections.abc import Sequence

import torch
from torch import Tensor

from earshot.models.native.precision import Precision
from earshot.models.u2.lanes import EncoderState
from earshot.models.u2.slot_step import slot_step
from earshot.models.u2.u2 import U2Model
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.ctc_output import ctc_outputs
from earshot.streaming.stream.active_stream import ActiveStream, StreamSettings
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.lane_features import compute_features


class EncodeStep:
    """Moves lanes' encoder state by one chunk; a failing call leaves every state as it was.

    slots: of all streams, and one more that none ever takes.
    """

    def __init__(
        self,
        model: U2Model,
        heads: CtcNetwork,
        slots: EncoderState,
        settings: StreamSettings,
        precision: Precision = "float32",
    ) -> None:
        self._heads = heads
        self._step = slot_step(model.encoder, precision)
        self._slots = slots
        self._idle_slot = torch.tensor([slots.offset.size(0) - 1], device=slots.offset.device)
        self._settings = settings
        self._device = slots.offset.device

    def __call__(self, lanes: Sequence[Lane]) -> None:
        """Fill in `encoded` and `output` of lanes that have frames to decode.

        Raises DecodingFailed when the network's output is not finite.
        """
        moving = [lane for lane in lanes if lane.cut.frames]
        if not moving:
            return
        compute_features(moving, self._settings)
        slots = torch.tensor([lane.stream.slot for lane in moving], device=self._device)
        lengths = torch.tensor([lane.cut.frames for lane in moving], device=self._device)
        columns = max(lane.stream.segment.frames for lane in moving)
        encoded, update = self._step(self._batch(moving), lengths, self._slots, slots, columns)
        log_probs = self._heads.ctc_log_probs(encoded).float()
        outputs = ctc_outputs(log_probs, lengths.tolist(), self._heads.blank_id)
        for row, (lane, output) in enumerate(zip(moving, outputs, strict=True)):
            # A copy: a view would keep the whole batch alive as long as the segment.
            lane.encoded = encoded[row, : lane.cut.frames].clone()
            lane.output = output
        self._slots.scatter(slots, update)

    def whole(self, stream: ActiveStream) -> Tensor:
        """Hear the stream's segment once more as one chunk: its encoder frames `(T, D)`.

        Raises DecodingFailed when the network's output is not finite.
        """
        feats = stream.whole_window().to(self._device)
        length = torch.tensor([stream.segment.frames], device=self._device)
        encoded, _ = self._step(feats.unsqueeze(0), length, self._slots, self._idle_slot, 0)
        if not bool(encoded.isfinite().all()):
            raise DecodingFailed("the network's output is not finite")
        return encoded[0, : stream.segment.frames]

    def _batch(self, lanes: Sequence[Lane]) -> Tensor:
        """The lanes' windows `(B, W, F)`, short ones padded with zeros on the right."""
        windows = [lane.stream.window(lane.cut) for lane in lanes]
        # As wide as a full one of the largest chunk among them; no lane hears what is padding.
        width = max(lane.stream.chunking.window for lane in lanes)
        batch = torch.zeros(len(lanes), width, windows[0].size(1))
        for row, window in enumerate(windows):
            batch[row, : len(window)] = window
        return batch.to(self._device)
