"""Frames of some lanes that a GPU walks over at once: how they get there, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.decoder_kernels.transducer.label_loop import LoopMemory, WalkedChunk
from earshot.decoder_kernels.transducer.loop_arrays import LaneArrays
from earshot.decoder_kernels.transducer.loop_half import LoopHalf
from earshot.decoder_kernels.transducer.placed_boosts import PlacedTable


@dataclass(frozen=True, eq=False)
class LoopPiece:
    """Each lane's frames `(T_i, D)` on the device, what was said before, and its boosts."""

    frames: Sequence[Tensor]
    before: Sequence[LoopMemory]
    tables: Sequence[PlacedTable]

    def write(self, lanes: LaneArrays, half: LoopHalf, rung: int) -> None:
        """Fill the arrays of the first `rung` lanes; those behind the last have no frames."""
        count = len(self.frames)
        encoded = pad_sequence(list(self.frames), batch_first=True)
        lanes.encoded[:count, : encoded.shape[1]].copy_(encoded)
        lanes.memory[:count].copy_(
            torch.stack([each.numbers.to(lanes.memory.device) for each in self.before])
        )
        lanes.numbers[:, :rung].copy_(self._numbers(half, rung))

    def _numbers(self, half: LoopHalf, rung: int) -> Tensor:
        numbers = torch.zeros(half.LANE_NUMBERS, rung, dtype=torch.int32)
        carried = [
            memory.carried(table) for memory, table in zip(self.before, self.tables, strict=True)
        ]
        rows = {
            half.LENGTH: [len(frames) for frames in self.frames],
            half.FRAME: [ahead for ahead, _ in carried],
            half.BOOST_STATE: [state for _, state in carried],
            half.BOOST_ROW: [table.first_row for table in self.tables],
            half.BOOST_STATES: [table.num_states for table in self.tables],
        }
        for row, values in rows.items():
            numbers[row, : len(values)] = torch.tensor(values)
        return numbers

    def read(self, lanes: LaneArrays, half: LoopHalf) -> list[WalkedChunk | None]:
        """What the lanes have found; None for one whose network's output was not finite."""
        count = len(self.frames)
        found = FoundOnDevice.of(lanes, half, count)
        return [
            found.walked(lane, len(self.frames[lane]), self.tables[lane]) for lane in range(count)
        ]


@dataclass(frozen=True, eq=False)
class FoundOnDevice:
    """The labels that lanes have found, on the host; their memory still on the device."""

    frame: list[int]
    boost_state: list[int]
    labels: list[int]
    finite: list[int]
    found: Tensor
    log_probs: Tensor
    blank_log_probs: Tensor
    memory: Tensor

    @staticmethod
    def of(lanes: LaneArrays, half: LoopHalf, count: int) -> FoundOnDevice:
        """The labels of the first lanes."""
        numbers = lanes.numbers[:, :count].cpu()
        most = int(numbers[half.FOUND].max())
        return FoundOnDevice(
            frame=numbers[half.FRAME].tolist(),
            boost_state=numbers[half.BOOST_STATE].tolist(),
            labels=numbers[half.FOUND].tolist(),
            finite=numbers[half.FINITE].tolist(),
            found=lanes.found[:, :count, :most].cpu(),
            log_probs=lanes.log_probs[:count, :most].cpu(),
            blank_log_probs=lanes.blank_log_probs[:count].cpu(),
            memory=lanes.memory[:count],
        )

    def walked(self, lane: int, length: int, table: PlacedTable) -> WalkedChunk | None:
        """The lane's; its memory is a copy, as a view would keep all lanes' alive."""
        if not self.finite[lane]:
            return None
        labels = self.labels[lane]
        tokens, frames, durations = self.found[:, lane, :labels].tolist()
        return WalkedChunk(
            tokens,
            frames,
            durations,
            self.log_probs[lane, :labels].tolist(),
            self.blank_log_probs[lane, :length].tolist(),
            LoopMemory(
                self.memory[lane].clone(),
                self.frame[lane] - length,
                self.boost_state[lane],
                table.fingerprint,
            ),
        )
