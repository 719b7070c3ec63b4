"""Label looping on a GPU: what `LabelLoop` finds, with no label or blank on its way to the host.

Bataev 2024, as one kernel or as a graph with loops in it (Galvez 2024, section 3);
`csrc/looping` says how the work is laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.device_errors import device_errors
from earshot.decoder_kernels.transducer.device_loop_config import DeviceLoopConfig, LoopMode
from earshot.decoder_kernels.transducer.label_loop import (
    LabelLoop,
    LoopMemory,
    WalkedChunk,
    check_chunks,
)
from earshot.decoder_kernels.transducer.loop_arrays import HeadArrays, LaneRoom
from earshot.decoder_kernels.transducer.loop_half import loop_half
from earshot.decoder_kernels.transducer.loop_piece import LoopPiece
from earshot.decoder_kernels.transducer.loop_weights import LoopWeights
from earshot.decoder_kernels.transducer.placed_boosts import PlacedBoosts, PlacedTable


class DeviceLabelLoop:
    """Walks over chunks of streams on a device, as `LabelLoop` does on the CPU.

    All arrays are made here, and all graphs captured. `device` needs its half of the native module
    (BackendMissing). boost_capacity: see `LabelLoop`. Raises DeviceError for what the device
    refuses. Not for several threads, or streams of the device, at a time.
    """

    @device_errors()
    @torch.inference_mode()
    def __init__(
        self,
        weights: LoopWeights,
        device: torch.device,
        config: DeviceLoopConfig,
        num_slots: int = 0,
        boost_capacity: int = 0,
    ) -> None:
        self.config = config
        self.device = device
        self.vocab_size = weights.vocab_size
        self._half = loop_half(device)
        silence = LabelLoop(weights).begin().numbers
        self._silence = LoopMemory(silence.to(device))
        self._head = HeadArrays.of(weights, device)
        self._boosts = PlacedBoosts(weights.vocab_size, num_slots, boost_capacity, device)
        room = LaneRoom(config.max_lanes, config.max_frames, weights.max_symbols, len(silence))
        self._lanes = room.arrays(self._head, self._half, self._boosts.arena)
        self._native = self._half.LabelLooping(
            weights=self._head.lent(self._half),
            lanes=self._lanes.lent(self._half),
            activation=weights.activation,
            max_symbols=weights.max_symbols,
            order=config.order,
            threads=config.block_threads or self._half.loop_threads,
        )
        if config.mode is LoopMode.FULL_GRAPH:
            with self._current_device():
                for rung in config.ladder:
                    self._native.capture(rung)

    def begin(self) -> LoopMemory:
        """Nothing was said."""
        return self._silence

    @device_errors()
    @torch.inference_mode()
    def set_boost(self, slot: int, table: BoostTable | None) -> None:
        """Boost a slot's phrases from its next chunk on, or none: as `LabelLoop.set_boost`."""
        self._boosts.set(slot, table)

    @device_errors()
    @torch.inference_mode()
    def __call__(
        self,
        chunks: Sequence[Tensor],
        before: Sequence[LoopMemory],
        slots: Sequence[int] | None = None,
    ) -> list[WalkedChunk | None]:
        """Walk over each stream's encoder frames `(T_i, D)`: as `LabelLoop`."""
        self.check(chunks)
        tables = self._boosts.of(slots, len(chunks))
        most, walked = self.config.max_lanes, list[WalkedChunk | None]()
        for first in range(0, len(chunks), most):
            last = first + most
            walked += self._walk(chunks[first:last], before[first:last], tables[first:last])
        return walked

    def check(self, chunks: Sequence[Tensor]) -> None:
        """Raises InvalidInput for chunks of other sizes."""
        check_chunks(chunks, len(self._head.encoder))

    def _walk(
        self, chunks: Sequence[Tensor], before: Sequence[LoopMemory], tables: list[PlacedTable]
    ) -> list[WalkedChunk | None]:
        """Lanes for which there is room, piece by piece."""
        walked: list[WalkedChunk | None] = [
            WalkedChunk.nothing(memory.under(table))
            for memory, table in zip(before, tables, strict=True)
        ]
        step = self.config.max_frames
        for first in range(0, max(map(len, chunks)), step):
            going = {i: each for i, each in enumerate(walked) if each and len(chunks[i]) > first}
            piece = LoopPiece(
                [chunks[i][first : first + step].to(self.device) for i in going],
                [each.after for each in going.values()],
                [tables[i] for i in going],
            )
            for (i, each), found in zip(going.items(), self._walk_piece(piece), strict=True):
                walked[i] = found and (each.then(found) if first else found)
        return walked

    def _walk_piece(self, piece: LoopPiece) -> list[WalkedChunk | None]:
        if not piece.frames:
            return []
        rung = next(each for each in self.config.ladder if each >= len(piece.frames))
        piece.write(self._lanes, self._half, rung)
        self.run(rung)
        return piece.read(self._lanes, self._half)

    def run(self, rung: int) -> None:
        """A walk over what the arrays hold for the first `rung` lanes, one of the ladder."""
        stream = torch.get_device_module(self.device).current_stream(self.device).cuda_stream
        with self._current_device():
            self._launch(rung, stream)

    def _current_device(self) -> AbstractContextManager[None]:
        """The device, for what the CUDA runtime is asked without naming one."""
        guard: AbstractContextManager[None] = torch.get_device_module(self.device).device(
            self.device
        )
        return guard

    def _launch(self, rung: int, stream: int) -> None:
        match self.config.mode:
            case LoopMode.KERNEL:
                self._native.run_as_one_kernel(rung, stream)
            case LoopMode.FULL_GRAPH:
                self._native.run_as_graph(rung, stream)
            case LoopMode.NO_GRAPHS:
                self._native.run_by_launches(rung, stream)
