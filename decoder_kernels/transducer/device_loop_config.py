"""How label looping runs on a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from earshot.decoder_kernels.errors import InvalidConfig

MAX_BLOCK_THREADS = 256  # as in csrc/block/block_cuda.h


class LoopMode(StrEnum):
    """How the loop is run.

    KERNEL: as one kernel whose blocks wait for each other. FULL_GRAPH: as a graph with WHILE nodes,
    captured at the start. NO_GRAPHS: step by step, as the host reads what is left.
    """

    KERNEL = "kernel"
    FULL_GRAPH = "full_graph"
    NO_GRAPHS = "no_graphs"


class LoopOrder(StrEnum):
    """Who waits for whom.

    LABELS: a lane that has found a label waits for the others' (Bataev 2024, Algorithm 3). FRAMES:
    a lane that has found its frame's blank waits for the others' (Algorithm 1 there and in Galvez
    2024). FREE: no lane waits, as on the CPU.
    """

    LABELS = "labels"
    FRAMES = "frames"
    FREE = "free"


@dataclass(frozen=True)
class DeviceLoopConfig:
    """How a loop runs. Raises InvalidConfig for values that make none.

    max_lanes, max_frames: that are walked at once; more are walked in pieces. order, block_threads:
    change no result.
    """

    max_lanes: int
    max_frames: int = 32
    mode: LoopMode = LoopMode.KERNEL
    order: LoopOrder = LoopOrder.FREE
    block_threads: int | None = None

    def __post_init__(self) -> None:
        if self.max_lanes < 1 or self.max_frames < 1:
            raise InvalidConfig("a loop has a lane and a frame at least")
        if self.block_threads is not None and not 1 <= self.block_threads <= MAX_BLOCK_THREADS:
            raise InvalidConfig(f"block_threads must lie in 1..{MAX_BLOCK_THREADS}")

    @property
    def ladder(self) -> list[int]:
        """Numbers of lanes that graphs are made for: powers of two, and all."""
        rungs = [1 << power for power in range(self.max_lanes.bit_length())]
        return [*(rung for rung in rungs if rung < self.max_lanes), self.max_lanes]
