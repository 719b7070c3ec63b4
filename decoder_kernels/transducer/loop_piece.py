"""Frames of some lanes that a GPU walks over at once: how they get there, and what comes back.

How often the device is asked for something does not depend on how many lanes there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

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
        device, (_, room, size) = lanes.encoded.device, lanes.encoded.shape
        encoded = torch.cat(list(self.frames)).to(torch.float32)
        lanes.encoded.view(-1, size).index_copy_(0, self._rows(room).to(device), encoded)
        memories = [each.numbers.to(device) for each in self.before]
        lanes.memory[: len(memories)].copy_(torch.stack(memories))
        lanes.numbers[:, :rung].copy_(self._numbers(half, rung))

    def _rows(self, room: int) -> Tensor:
        """Where each frame belongs, of lanes that have `room` for so many."""
        lengths = torch.tensor([len(each) for each in self.frames])
        firsts = room * torch.arange(len(lengths)) - (lengths.cumsum(0) - lengths)
        return torch.arange(int(lengths.sum())) + firsts.repeat_interleave(lengths)

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
        numbers = lanes.numbers[:, : len(self.frames)].cpu()
        labels, lengths = numbers[half.FOUND], numbers[half.LENGTH]
        found, after = FoundLabels.of(lanes, labels, lengths), self._after(lanes, half, numbers)
        places = zip(lane_slices(labels), lane_slices(lengths), strict=True)
        walked = [
            WalkedChunk(*found.of_lane(own, passed), memory)
            for (own, passed), memory in zip(places, after, strict=True)
        ]
        finite = numbers[half.FINITE].tolist()
        return [each if fine else None for each, fine in zip(walked, finite, strict=True)]

    def _after(self, lanes: LaneArrays, half: LoopHalf, numbers: Tensor) -> list[LoopMemory]:
        """What each lane remembers."""
        ahead = (numbers[half.FRAME] - numbers[half.LENGTH]).tolist()
        states = numbers[half.BOOST_STATE].tolist()
        boosts = [table.fingerprint for table in self.tables]
        memories = rows_of_their_own(lanes.memory[: len(self.frames)])
        return list(map(LoopMemory, memories, ahead, states, boosts))


@dataclass(frozen=True, eq=False)
class FoundLabels:
    """The labels of all lanes, one lane's behind another's, and the blanks of their frames."""

    tokens: list[int]
    frames: list[int]
    durations: list[int]
    log_probs: list[float]
    blank_log_probs: list[float]

    @staticmethod
    def of(lanes: LaneArrays, labels: Tensor, lengths: Tensor) -> FoundLabels:
        """Labels and blanks of lanes that have found so many in so many frames."""
        count, most, longest = len(labels), int(labels.max()), int(lengths.max())
        is_label = torch.arange(most) < labels[:, None]
        is_frame = torch.arange(longest) < lengths[:, None]
        tokens, frames, durations = lanes.found[:, :count, :most].cpu()[:, is_label].tolist()
        return FoundLabels(
            tokens,
            frames,
            durations,
            lanes.log_probs[:count, :most].cpu()[is_label].tolist(),
            lanes.blank_log_probs[:count, :longest].cpu()[is_frame].tolist(),
        )

    def of_lane(
        self, own: slice, passed: slice
    ) -> tuple[list[int], list[int], list[int], list[float], list[float]]:
        """One lane's, whose labels and frames lie there."""
        labels = (self.tokens[own], self.frames[own], self.durations[own], self.log_probs[own])
        return *labels, self.blank_log_probs[passed]


def lane_slices(counts: Tensor) -> Iterator[slice]:
    """Where each lane's items lie, which has so many."""
    ends = counts.cumsum(0).tolist()
    return map(slice, [0, *ends[:-1]], ends)


def rows_of_their_own(memory: Tensor) -> list[Tensor]:
    """The rows of (B, S), each a copy of its own: a view would keep all lanes' alive."""
    rows = [memory.new_empty(1, memory.shape[1]) for _ in range(len(memory))]
    torch.split_with_sizes_copy(memory, [1] * len(memory), out=rows)
    return [row[0] for row in rows]
